package accesslog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// TestLocator holds a locator to the rows: each request is of one that counts it.
func TestLocator(t *testing.T) {
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "time:2026-11-20T14:02:11+09:00\tmethod:GET\turi:/users/%d?x=%d\tstatus:200\treqtime:0.001\n", i, i)
		fmt.Fprintf(&log, "time:2026-11-20T14:02:11+09:00\tmethod:GET\turi:/by/%s%s\tstatus:200\treqtime:0.001\n",
			[]string{"kim", "lee", "ann", "bob", "eve"}[i%5], strings.Repeat(string(rune('a'+i%26)), 1+i/26))
		fmt.Fprintf(&log, "time:2026-11-20T14:02:11+09:00\tmethod:POST\turi:/login\tstatus:200\treqtime:0.001\n")
	}
	window := func() *lines.Window { return lines.NewReader(strings.NewReader(log.String()), 0) }
	table, _, err := Collect(window(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]uint64{}, map[string]uint64{}
	for _, e := range table.Endpoints() {
		want[e.Method+" "+e.Route] = e.Count
	}
	l := table.Locator()
	r := accessformat.NewReader(window(), nil)
	for r.Scan() {
		method, route := l.Locate(r.Record())
		got[method+" "+route]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
