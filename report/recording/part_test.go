package recording

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/report"
)

// TestShowPart_Limits: what limits the figures of some seconds stands above them: a damaged file, times that are not
// kept by the second, of which no column is shown.
func TestShowPart_Limits(t *testing.T) {
	rec := &kasoku.Recording{
		Run:    kasoku.Run{ID: "1", Length: 9 * time.Second},
		Damage: []string{"table query: 2 of 9 rows lost"},
		Endpoints: []kasoku.Endpoint{{Method: "GET", Route: "/a", Count: 5,
			Seconds: map[int]kasoku.EndpointSecond{1: {Count: 3, Failed: 1}, 7: {Count: 2}}}},
	}
	p, err := part.Of(rec, rec.Run.Length, kasoku.Interval{To: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	d := ShowPart(p, report.Options{})
	var said []string
	for _, a := range d.Alerts {
		said = append(said, a.Text)
	}
	if got := strings.Join(said, "\n"); !strings.Contains(got, "damaged: table query: 2 of 9 rows lost") ||
		!strings.Contains(got, "Not all times are kept by the second") {
		t.Errorf("alerts %q", got)
	}
	if d.Verdict != "3 requests and 0 statements in 2 s." {
		t.Errorf("verdict %q", d.Verdict)
	}
	for i := range d.Sections {
		if d.Sections[i].ID != report.SectionEndpoints {
			continue
		}
		table := d.Sections[i].Blocks[0].(*report.Table)
		var heads []string
		for _, c := range table.Columns {
			heads = append(heads, c.Head)
		}
		if got := strings.Join(heads, ", "); got != "endpoint, requests, per second, 5xx" {
			t.Errorf("columns %s", got)
		}
		return
	}
	t.Error("no endpoints")
}
