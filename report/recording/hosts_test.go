package recording

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
)

// twoHosts is the sample with a second host that had all its CPU used.
func twoHosts() *kasoku.Recording {
	r := sample.Before()
	first := r.Run.Hosts[0]
	second := first
	second.Name, second.Cores, second.ClockOffset, second.ClockError, second.ClockNote = "db1", 8, -1500*time.Millisecond, 60*time.Millisecond, "bytes"
	r.Run.Hosts = append(r.Run.Hosts, second)
	for _, s := range r.Series {
		if s.Key.Source == "host" && s.Key.Instance == "" && s.Key.Host == first.Name {
			s.Key.Host = second.Name
			r.Series = append(r.Series, s)
		}
	}
	return r
}

func TestSeveralHosts(t *testing.T) {
	d := Show(twoHosts(), report.Options{})
	table := d.Section(report.SectionHosts).Blocks[0].(*report.Table)
	if got := table.Rows[1].Cells; got[0].Text != "db1" || got[3].Text != "−1.5 s" || got[4].Text != "60.0 ms" {
		t.Errorf("cells %v", got)
	}
	var titles []string
	ids := map[string]bool{}
	for _, c := range d.Section(report.SectionTimeline).Blocks[0].(*report.Timeline).Charts {
		if ids[c.ID] {
			t.Errorf("two charts have the id %s", c.ID)
		}
		ids[c.ID] = true
		titles = append(titles, c.Title)
	}
	all := strings.Join(titles, ", ")
	if !strings.Contains(all, "db1: CPU") || strings.Contains(all, "db1: Connections") {
		t.Errorf("charts %s", all)
	}
	if one := Show(sample.Before(), report.Options{}); one.Section(report.SectionHosts) != nil ||
		one.Section(report.SectionTimeline).Blocks[0].(*report.Timeline).Charts[3].Title != "CPU" {
		t.Error("one host is reported as several")
	}
}

// TestEndpointsOfSeveralHosts: what two hosts logged of one endpoint is distinguished.
func TestEndpointsOfSeveralHosts(t *testing.T) {
	r := sample.Before()
	one := Show(r, report.Options{}).Section(report.SectionEndpoints)
	if cols := one.Blocks[0].(*report.Table).Columns; cols[1].Key != "requests" {
		t.Errorf("one host has the columns %v", cols)
	}
	backend := r.Endpoints[0]
	backend.Host, backend.Count = "app2", 1
	r.Endpoints = append(r.Endpoints, backend)
	s := Show(r, report.Options{}).Section(report.SectionEndpoints)
	table := s.Blocks[0].(*report.Table)
	if table.Columns[1].Key != "host" {
		t.Fatalf("columns %v", table.Columns)
	}
	hosts := map[string]int{}
	for _, row := range table.Rows {
		if len(row.Cells) != len(table.Columns) {
			t.Fatalf("row %v", row)
		}
		hosts[row.Cells[1].Text]++
	}
	front := r.Endpoints[0].Host
	if hosts["app2"] != 1 || hosts[front] != len(table.Rows)-1 {
		t.Errorf("hosts %v, want app2 once, else %s", hosts, front)
	}
	if !strings.Contains(string(s.Sub), "the log of "+front+",") {
		t.Errorf("sub-title %q", s.Sub)
	}
}
