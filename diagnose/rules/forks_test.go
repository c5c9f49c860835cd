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
	named := func(change func(points []kasoku.Point) []kasoku.Point, sockets ...string) bool {
		rec, _, err := extract.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range rec.FindAll(diagnose.Process, "cpu.children") {
			s.Points = change(s.Points)
		}
		for _, instance := range sockets {
			name := "accept.queue"
			if strings.HasPrefix(instance, "at ") {
				name = "tcp.established"
			}
			rec.Series = append(rec.Series, kasoku.Series{Key: kasoku.Key{Host: "host1", Source: "sockets", Instance: instance, Name: name}})
		}
		found, _ := application.Forks{}.Check(diagnose.NewCase(rec, nil))
		for _, f := range found {
			for _, e := range f.Evidence {
				if strings.HasPrefix(e.Text, "CPU of programs that ") {
					return true
				}
			}
		}
		return false
	}
	recorded := func(p []kasoku.Point) []kasoku.Point { return p }
	for _, sockets := range [][]string{
		{}, {"127.0.0.1:80 nginx", "127.0.0.1:8080 ledger"}, {"127.0.0.1:80 nginx", "127.0.0.1:8080"}, {"[::]:8080 ledger", "at 80", "at 8080"}, {"/run/ledger.sock ledg", "at 80"},
	} {
		if !named(recorded, sockets...) {
			t.Errorf("as recorded, with %q: the program that waits is not named", sockets)
		}
	}
	for _, sockets := range [][]string{
		{"127.0.0.1:80 nginx", "127.0.0.1:3306 mariadbd"}, {"127.0.0.1:80 nginx", "[::1]:9090 ledger", "at 80"},
	} {
		if named(recorded, sockets...) {
			t.Errorf("with %q: a program that takes no connections is named", sockets)
		}
	}
	if named(func(p []kasoku.Point) []kasoku.Point { // one of its children ends after long
		for i := range p {
			p[i].Value = 0
			if i > len(p)/2 {
				p[i].Value = 3
			}
		}
		return p
	}) {
		t.Error("a build that ends once is named")
	}
	if named(func(p []kasoku.Point) []kasoku.Point { // as fast without requests
		last := p[len(p)-1]
		for i := range 10 {
			p = append(p, kasoku.Point{At: last.At + time.Duration(1+i)*time.Second, Value: last.Value + float64(1+i)*0.03})
		}
		return p
	}) {
		t.Error("a job that goes on without requests is named")
	}
}
