//go:build extract

package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules/host"
)

// TestConstructPlacement makes the cases of HW-04 from runs of one host: its database is put on a
// host db1, and the hosts get so many cores that they are as busy as the case wants. Two hosts
// of different sizes are not at hand where the others are recorded.
//
//	go test -tags extract ./diagnose/rules -run TestConstructPlacement
func TestConstructPlacement(t *testing.T) {
	for _, server := range []string{"mariadb", "mysql"} {
		for _, x := range []struct {
			as          string
			app, db     float64 // how busy the two are in the last step, by a first estimate
			cores       float64 // of db1, in those of the application's host
			fires, near bool
		}{
			{"fires/SERVER-small-web", 0.95, 0, 3, true, false},
			{"silent/SERVER-no-room", 0.95, 0, 1, false, true},
			{"silent/SERVER-both-full", 0.95, 0.80, 0, false, false},
			{"silent/SERVER-both-idle", 0.40, 0, 3, false, false},
			{"under/SERVER-small-web", 0.88, 0, 3, false, true},
		} {
			rec := onTwoHosts(t, server, x.app, x.db, x.cores)
			found, quiet := host.Placement{}.Check(diagnose.NewCase(rec, nil))
			near := len(quiet) == 1 && !quiet[0].Blind && (quiet[0].Near > 0.9 == x.near || !strings.HasPrefix(x.as, "under"))
			if len(found) > 0 != x.fires || !x.fires && !near {
				t.Errorf("%s: %+v %+v", x.as, found, quiet)
				continue
			}
			as := strings.Replace(x.as, "SERVER", server, 1)
			keepExtract(t, rec, nil, "HW-04", as,
				"constructed: a database on a host of its own, from HW-03/fires, with TestConstructPlacement")
		}
	}
}

// onTwoHosts reads a run of one host, and divides it.
func onTwoHosts(t *testing.T, server string, app, db, cores float64) *kasoku.Recording {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "HW-03", "fires", server+"-*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	rec, _, err := extract.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	own := rec.Run.Hosts[0].Name
	ofDB := func(k kasoku.Key) bool {
		return k.Source == diagnose.Process &&
			strings.Contains(k.Instance, map[string]string{"mariadb": "mariadbd", "mysql": "mysqld"}[server])
	}
	var grid []kasoku.Point
	rec.Series = slices.DeleteFunc(rec.Series, func(s kasoku.Series) bool {
		cpu := s.Key.Source == diagnose.Host && strings.HasPrefix(s.Key.Name, "cpu.")
		if cpu && s.Key.Name == "cpu.idle" && s.Key.Instance == "" {
			grid = s.Points
		}
		return cpu || s.Key.Source == diagnose.Process && strings.HasPrefix(s.Key.Name, "thread.")
	})
	used := map[string][]float64{own: make([]float64, len(grid)), "db1": make([]float64, len(grid))}
	for i := range rec.Series {
		s := &rec.Series[i]
		name := own
		if ofDB(s.Key) {
			name, s.Key.Host = "db1", "db1"
		}
		if s.Key.Source == diagnose.Process && strings.HasPrefix(s.Key.Name, "cpu.") {
			for k, p := range grid {
				used[name][k] += valueAt(s.Points, p.At) - s.Points[0].Value
			}
		}
	}
	rec.Run.Hosts[0].Cores = 0 // as many as its CPU times add up to
	rec.Run.Hosts = append(rec.Run.Hosts[:1:1], kasoku.Host{Name: "db1"})
	for i := range rec.Service.Members {
		if m := &rec.Service.Members[i]; m.Role == kasoku.RoleDatabase {
			m.Host = "db1"
		} else {
			m.Host = own
		}
	}
	step := rec.Steps[len(rec.Steps)-1].Interval
	rate := func(all []float64) float64 { // cores in use while the last step ran
		first := slices.IndexFunc(grid, func(p kasoku.Point) bool { return p.At >= step.From })
		last := len(grid) - 1 - slices.IndexFunc(reversed(grid), func(p kasoku.Point) bool { return p.At <= step.To })
		return (all[last] - all[first]) / (grid[last].At - grid[first].At).Seconds()
	}
	size := rate(used[own]) / app
	for name, all := range used {
		has := size
		switch {
		case name == "db1" && db > 0:
			has = rate(all) / db
		case name == "db1":
			has = size * cores
		}
		of := func(name, mode string) kasoku.Series {
			return kasoku.Series{Kind: kasoku.Counter, Key: kasoku.Key{Host: name, Source: diagnose.Host, Name: mode}}
		}
		user, idle := of(name, "cpu.user"), of(name, "cpu.idle")
		rest := 0.0
		for k, p := range grid {
			if k > 0 {
				rest += max(has*(p.At-grid[k-1].At).Seconds()-(all[k]-all[k-1]), 0)
			}
			user.Points = append(user.Points, kasoku.Point{At: p.At, Value: all[k]})
			idle.Points = append(idle.Points, kasoku.Point{At: p.At, Value: rest})
		}
		rec.Series = append(rec.Series, user, idle)
	}
	return rec
}

func reversed(points []kasoku.Point) []kasoku.Point {
	out := slices.Clone(points)
	slices.Reverse(out)
	return out
}

// valueAt is a counter's value then, between two points as if it grew evenly.
func valueAt(points []kasoku.Point, at time.Duration) float64 {
	v := points[0].Value
	for i, p := range points[1:] {
		q := points[i]
		switch {
		case p.At <= at:
			v = p.Value
		case q.At <= at:
			return q.Value + (p.Value-q.Value)*(at-q.At).Seconds()/(p.At-q.At).Seconds()
		}
	}
	return v
}
