package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// gaugeSeries is a series with a value each second.
func gaugeSeries(source, name, instance string, vs ...float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name, Instance: instance}}
	for i, v := range vs {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i)*time.Second + time.Second/2, Value: v})
	}
	return s
}

// What was not reported has no column, and is null for machines.
func TestGoTables(t *testing.T) {
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		gaugeSeries("expvar", "HeapAlloc", "memstats", 1<<20, 3<<20), gaugeSeries("expvar", "InUse", "db", 1, 2), gaugeSeries("expvar", "MaxOpenConnections", "db", 0, 0),
	}}}
	// The last tick is a moment after the end.
	r.Series[0].Points = append(r.Series[0].Points, kasoku.Point{At: 3*time.Second + time.Millisecond, Value: 4 << 20})
	programs := hostUse{r}.goPrograms()
	var got []string
	for _, table := range []*report.Table{programTable(programs), poolTable(programs)} {
		for k, c := range table.Columns {
			got = append(got, fmt.Sprint(c.Key, "=", table.Rows[0].Cells[k].Text))
		}
	}
	if s := strings.Join(got, " "); s != "program=the program heap_bytes=4.0 MiB pool=db in_use=2 limit=none" {
		t.Error(s)
	}
}

// TestGoPoolNamedAfterAddress: a pool that is called after its database is none of another
// program.
func TestGoPoolNamedAfterAddress(t *testing.T) {
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		gaugeSeries("expvar", "HeapAlloc", "memstats", 1<<20, 3<<20),
		gaugeSeries("expvar", "InUse", "pools.10.0.0.1:3306", 1, 2), gaugeSeries("expvar", "InUse", "pools.10.0.0.2:3306", 4, 5),
	}}}
	if p := (hostUse{r}).goPrograms(); len(p) != 1 || len(p[0].Pools) != 2 || p[0].Pools[0].Name != "pools.10.0.0.1:3306" || p[0].Heap != 3<<20 {
		t.Errorf("%+v", p)
	}
}
