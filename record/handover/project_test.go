package handover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestProject: a directory is of the project whose kasoku.toml is nearest above.
func TestProject(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "runs")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := projectOfRun(filepath.Join(deep, "x.kasoku")); got != filepath.Join(root, "a") {
		t.Errorf("a run: %q", got)
	}
	if got := Project(deep); got != deep {
		t.Errorf("without kasoku.toml: %q", got)
	}
	if err := os.WriteFile(filepath.Join(root, configName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, of := Project(deep), projectOfRun(filepath.Join(deep, "x.kasoku")); got != root || of != root {
		t.Errorf("%q, %q, want %q", got, of, root)
	}
}

// TestChoice: no second has the load of two projects; the own one goes before.
func TestChoice(t *testing.T) {
	own, other, third := t.TempDir(), "/other", "/third"
	var said []string
	c := NewChoice(own, nil, func(dir string, taken bool) {
		said = append(said, dir+map[bool]string{true: " taken", false: " refused"}[taken])
	})
	for _, x := range []struct {
		project string
		second  int
		want    bool
	}{
		{other, 3, true}, {other, 5, true}, {third, 5, false}, {third, 8, false}, // one of others at a time
		{own, 4, false}, {own, 5, false}, // these seconds have the other's
		{own, 6, true}, {other, 6, false}, {other, 7, false}, {own, 9, true},
		{third, 19, false}, {third, 20, true}, {own, 20, false}, {own, 21, true}, // idle since
	} {
		if got := c.Takes(x.project, nil, x.second); got != x.want {
			t.Errorf("%s in second %d: %v", x.project, x.second, got)
		}
	}
	if got := strings.Join(said, ", "); got != "/other taken, /third refused, /third taken" {
		t.Error(got)
	}
	// Two directories that each have a kasoku.toml are two projects, whatever runs.
	known := t.TempDir()
	for _, dir := range []string{own, known} {
		if err := os.WriteFile(filepath.Join(dir, configName), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if c = NewChoice(own, nil, nil); c.Takes(known, nil, 1) || !c.Takes(other, nil, 2) || c.Takes(known, nil, 99) || !c.Takes(own, nil, 100) {
		t.Error("the load of a project with a kasoku.toml of its own")
	}
	if all := (*Choice)(nil); !all.Takes(other, nil, 1) || !all.Of(third) {
		t.Error("who chooses nothing takes all")
	}
}

// TestChoice_Places: beside a kasoku.toml that says where the load goes, the load of a directory
// without one is taken only where it goes there too, or does not say.
func TestChoice_Places(t *testing.T) {
	own := t.TempDir()
	choice := func(places ...string) *Choice { return NewChoice(own, places, nil) }
	if c := choice("http://127.0.0.1:8080/"); !c.Takes("/other", []string{"http://127.0.0.1:9090"}, 1) {
		t.Error("without a kasoku.toml the load of a host is taken")
	}
	if err := os.WriteFile(filepath.Join(own, configName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		own, places string
		want        bool
	}{
		{"http://127.0.0.1:8080/", "http://127.0.0.1:9090", false},
		{"http://127.0.0.1:8080/", "http://[::1]:8080", true},
		{"http://127.0.0.1:8080/", "http://[::ffff:127.0.0.1]:8080", true},
		{"http://127.0.0.1:8080/", "http://" + host + ":8080", true},
		{"http://Shop.test/", "http://shop.TEST.:80", true},
		{"http://shop.test/", "http://127.0.0.1:80 shop.test", true},
		{"http://shop.test/", "http://127.0.0.1:80 blog.test", false},
		{"http://127.0.0.1:8080/", "http://localhost:8080", true},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080 shop.test", true},
		{"http://127.0.0.1/", "http://localhost:80", true},
		{"https://shop.test/", "https://shop.test:443", true},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:9090,http://127.0.0.1:8080", true},
		{"unix:/run/a.sock", "unix:/run/b.sock", false},
		{"unix:/run/a.sock", "unix:/run/a.sock shop.test", true},
		{"http://127.0.0.1:8080/", "", true}, // it does not say
		{"", "http://127.0.0.1:9090", true},  // nor does the own one
	} {
		split := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		c, places := choice(split(x.own)...), split(x.places)
		if got := c.Takes("/other", places, 1); got != x.want || c.Refuses(Ongoing{Project: "/other", Places: places}) == x.want {
			t.Errorf("own load at %q, another's at %q: taken %t", x.own, x.places, got)
		}
		if !choice(split(x.own)...).Takes(own, places, 1) {
			t.Errorf("the own load at %q was refused", x.places)
		}
	}
}

// TestLoads_OfTwoProjects: of two loads at once, made in two directories, the own one alone
// is taken, with its steps.
func TestLoads_OfTwoProjects(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	path := filepath.Join(t.TempDir(), "load")
	start := time.Now()
	from := func(dir string) *Writer {
		t.Helper()
		t.Chdir(dir)
		w, err := NewWriter(path, start)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	ours, theirs := from(a), from(b)
	l, err := NewLoads(path, start)
	if err != nil {
		t.Fatal(err)
	}
	l.Choose(NewChoice(a, nil, nil))
	report := func(w *Writer, asked uint64, seconds ...int) {
		t.Helper()
		var out []kasoku.LoadSecond
		for _, s := range seconds {
			out = append(out, kasoku.LoadSecond{Second: s, Step: 1, Asked: asked, Codes: map[int]uint64{200: asked}})
		}
		w.start += time.Duration(asked) // two loads of one process
		err := w.Write(Report{Steps: []kasoku.Step{{Number: 1, PerSec: float64(asked)}}, Seconds: out})
		w.start -= time.Duration(asked)
		if err != nil {
			t.Fatal(err)
		}
	}
	sums := map[int]uint64{}
	take := func() {
		t.Helper()
		seconds, err := l.Take()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range seconds {
			sums[s.Second] += s.Asked
		}
	}
	report(ours, 100, 0, 1)
	report(theirs, 7, 0, 1)
	take()
	report(theirs, 7, 2)
	report(ours, 100, 2)
	take()
	for s := range 3 {
		if sums[s] != 100 {
			t.Errorf("second %d: %d were asked, want 100", s, sums[s])
		}
	}
	if steps := l.Steps(); len(steps) != 1 || steps[0].PerSec != 100 {
		t.Errorf("steps %+v", steps)
	}
}
