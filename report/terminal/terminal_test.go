package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recording"
)

func options() report.Options {
	return report.Options{Location: sample.JST, Made: sample.Started.Add(45 * time.Second)}
}

func grouped(t *testing.T) *report.Document {
	t.Helper()
	before, after := sample.Groups()
	c, err := compare.Compare(before, after, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return comparison.Compare(c, options())
}

func compared(t *testing.T) *report.Document {
	t.Helper()
	c, err := compare.Compare([]*kasoku.Recording{sample.Before()}, []*kasoku.Recording{sample.After()}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return comparison.Compare(c, options())
}

// analysed are runs with all that logs and servers report, and their comparison.
func analysed(t *testing.T) (show, moved *report.Document) {
	t.Helper()
	before, after := sample.Analysed()
	c, err := compare.Compare([]*kasoku.Recording{before}, []*kasoku.Recording{after}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return recording.Show(before, options()), comparison.Compare(c, options())
}

func write(t *testing.T, d *report.Document, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	show := recording.Show(sample.Before(), options())
	logs, moved := analysed(t)
	for _, x := range []struct {
		name string
		d    *report.Document
		o    Options
	}{
		{"show-80", show, Options{Width: 80}},
		{"show-120", show, Options{Width: 120}},
		{"brief-80", show, Options{Width: 80, Brief: true}},
		{"brief-120", show, Options{Width: 120, Brief: true}},
		{"brief-80-color", show, Options{Width: 80, Brief: true, Color: true}},
		{"brief-80-ascii", show, Options{Width: 80, Brief: true, ASCII: true}},
		{"stopped-80", recording.Show(sample.Stopped(), options()), Options{Width: 80, Brief: true}},
		{"steps-80", recording.Show(sample.Before(), report.Options{Location: sample.JST, Sections: []string{report.SectionSteps}}), Options{Width: 80, Brief: true}},
		{"quiet-80", recording.Show(sample.Quiet(), options()), Options{Width: 80}},
		{"command-80", recording.Show(sample.Command(), options()), Options{Width: 80}},
		{"services-80", recording.Show(sample.Services(), options()), Options{Width: 80}},
		{"services-120", recording.Show(sample.Services(), options()), Options{Width: 120}},
		{"long-80", recording.Show(sample.Long(), options()), Options{Width: 80}},
		{"empty-80", recording.Show(&kasoku.Recording{}, report.Options{}), Options{Width: 80}},
		{"groups-80", grouped(t), Options{Width: 80}},
		{"groups-120", grouped(t), Options{Width: 120}},
		{"compare-80", compared(t), Options{Width: 80}},
		{"compare-120", compared(t), Options{Width: 120}},
		{"analysed-80", logs, Options{Width: 80}},
		{"analysed-120", logs, Options{Width: 120}},
		{"analysed-moved-80", moved, Options{Width: 80}},
		{"analysed-moved-120", moved, Options{Width: 120}},
	} {
		t.Run(x.name, func(t *testing.T) {
			golden.CheckString(t, "testdata/"+x.name+".golden", write(t, x.d, x.o))
		})
	}
}

// TestService: what was measured, and what of it could not be seen, stand below the
// verdict, in full and in brief.
func TestService(t *testing.T) {
	rec := sample.Before()
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Program: "nginx", Sure: kasoku.High,
		Listeners: []kasoku.Listener{{Network: "tcp", Address: "0.0.0.0:80"}}}},
		Unknown: []kasoku.Unseen{{What: "who listens at :8080", Why: "root alone may see it", Show: "run kasoku with sudo"}}}
	for _, brief := range []bool{false, true} {
		var b bytes.Buffer
		if err := Write(&b, recording.Show(rec, options()), Options{Width: 100, Brief: brief}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\nservice: load → nginx :80", "\nnot seen: who listens at :8080: root alone may see it; run kasoku with sudo\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("brief %v: no %q in\n%.900s", brief, want, b.String())
			}
		}
	}
}
