package findings

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kasoku/kasoku/report/internal/sample"
)

func TestAdvised(t *testing.T) {
	shop, _ := sample.Analysed()
	f := adviceFindings(shop.Advice)
	var got []string
	for _, x := range f.List {
		var lines []string
		for _, y := range x.Fixes {
			for _, l := range y.Code {
				lines = append(lines, l.Text)
			}
		}
		got = append(got, fmt.Sprintf("%s %s %s %q %d", x.Anchor, x.ID, x.Risk, x.Object, len(lines)))
	}
	want := []string{`a1 MYS-25 none "" 2`, `a2 MYS-14 none "" 4`, `a3 DBC-01 durability "" 2`, `a4 MYS-37  "" 0`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !f.List[2].Risky || f.List[0].Risky {
		t.Error("a risk to durability is marked, none is not")
	}
	if len(f.Table.Rows) != len(shop.Advice) {
		t.Errorf("%d rows for machines, want one for each variable", len(f.Table.Rows))
	}
	shop.Advice[3].Host = "db2"
	if f := adviceFindings(shop.Advice); f.List[0].Object != "web1" || f.List[2].Object != "db2" {
		t.Error("several servers are named")
	}
	if got := AdvisedValue("innodb_buffer_pool_size", "134217728"); got != "128 MiB" {
		t.Errorf("size %q", got)
	}
	if got := AdvisedValue("max_connections", "151"); got != "151" {
		t.Errorf("count %q", got)
	}
}
