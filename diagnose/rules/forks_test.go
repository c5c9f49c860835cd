package rules

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules/application"
)

// TestForks_BesideTheService: programs that others start on the host are not laid to
// the service's requests.
func TestForks_BesideTheService(t *testing.T) {
	data, err := os.ReadFile("testdata/APP-02/fires/mariadb-bare.txtar")
	if err != nil {
		t.Fatal(err)
	}
	named := func(change func(points []kasoku.Point) []kasoku.Point, known bool) bool {
		rec, _, err := extract.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range rec.FindAll(diagnose.Process, "cpu.children") {
			s.Points = change(s.Points)
		}
		if !known {
			rec.Service = nil
		}
		found, _ := application.Forks{}.Check(diagnose.NewCase(rec, nil))
		for _, f := range found {
			for _, e := range f.Evidence {
				if strings.HasPrefix(e.Text, "CPU of programs that ") {
					return true
				}
			}
		}
		return len(found) > 0
	}
	recorded := func(p []kasoku.Point) []kasoku.Point { return p }
	if !named(recorded, true) {
		t.Error("as recorded: the program that waits is not named")
	}
	if named(recorded, false) {
		t.Error("a program is named of which it is not known that it is the service's")
	}
	if named(func(p []kasoku.Point) []kasoku.Point { // one of its children ends after long
		for i := range p {
			p[i].Value = 0
			if i > len(p)/2 {
				p[i].Value = 3
			}
		}
		return p
	}, true) {
		t.Error("a build that ends once is named")
	}
	if named(func(p []kasoku.Point) []kasoku.Point { // as fast without requests
		last := p[len(p)-1]
		for i := range 10 {
			p = append(p, kasoku.Point{At: last.At + time.Duration(1+i)*time.Second, Value: last.Value + float64(1+i)*0.03})
		}
		return p
	}, true) {
		t.Error("a job that goes on without requests is named")
	}
}
