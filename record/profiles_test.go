package record

import (
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// spun is what the spinning is for.
var spun atomic.Uint64

//go:noinline
func spinHot(n int) (sum uint64) {
	for i := range n {
		sum = sum*31 + uint64(i)
	}
	return sum
}

// profiled serves the profiles of this process, which spins meanwhile.
func profiled(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	srv := httptest.NewServer(mux)
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !over.Load() {
			spun.Add(spinHot(1_000_000))
		}
	}()
	t.Cleanup(func() {
		over.Store(true)
		<-done
		srv.Close()
	})
	return srv.URL + "/debug/pprof/"
}

func TestProfiles(t *testing.T) {
	if testing.Short() {
		t.Skip("records for seconds")
	}
	res, err := Record(t.Context(), Options{
		Path:         filepath.Join(t.TempDir(), "x.kasoku"),
		Course:       Course{For: 2500 * time.Millisecond},
		Sources:      Sources{Pprof: []string{profiled(t), "http://127.0.0.1:1/debug/pprof/"}},
		profileAfter: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	rec := res.Recording
	kinds := map[kasoku.ProfileKind]kasoku.Profile{}
	for _, p := range rec.Profiles {
		kinds[p.Kind] = p
		if p.Host != rec.Run.Hosts[0].Name || p.Interval.From < 300*time.Millisecond || p.Interval.To > rec.Run.Length {
			t.Errorf("%s of %q: %v of %v", p.Kind, p.Host, p.Interval, rec.Run.Length)
		}
	}
	cpu := kinds[kasoku.ProfileCPU]
	// On a busy host the loop is preempted, and what does that has more samples of its own.
	hot := slices.IndexFunc(cpu.Functions, func(f kasoku.ProfileFunction) bool { return strings.HasSuffix(f.Name, "record.spinHot") })
	if len(kinds) != len(kasoku.ProfileKinds())-1 || hot < 0 || cpu.Functions[hot].Cum < cpu.Functions[0].Flat {
		t.Errorf("%d kinds, CPU %+v", len(kinds), cpu.Functions)
	}
	warned, marked := 0, 0
	for _, w := range rec.Warnings {
		if w.Code == "profile" && strings.Contains(w.Text, "127.0.0.1:1/") {
			warned++
		}
	}
	for _, e := range rec.Events {
		if e.Kind == "profile" {
			marked++
		}
	}
	if warned != 1 || marked != 1 {
		t.Errorf("%d warnings, %d events: %+v", warned, marked, rec.Warnings)
	}
}

func TestProfilesOff(t *testing.T) {
	res, err := Record(t.Context(), Options{
		Path:         filepath.Join(t.TempDir(), "x.kasoku"),
		Course:       Course{For: 200 * time.Millisecond},
		profileAfter: time.Millisecond,
		Sources:      Sources{Pprof: []string{"http://127.0.0.1:1/debug/pprof/"}, Off: []string{"pprof"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range res.Recording.Warnings {
		if w.Code == "profile" {
			t.Errorf("%+v", w)
		}
	}
}

// A load that is over too soon is not profiled, and says so.
func TestProfilesTooShort(t *testing.T) {
	for name, o := range map[string]Options{
		"known":   {Course: Course{For: 200 * time.Millisecond}},
		"unknown": {Course: Course{Command: []string{"true"}}},
	} {
		o.Path, o.Pprof = filepath.Join(t.TempDir(), "x.kasoku"), []string{"http://127.0.0.1:1/debug/pprof/"}
		res, err := Record(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, w := range res.Recording.Warnings {
			if w.Code == "profile" && strings.HasPrefix(w.Text, "no profiles: the load was over") {
				said++
			}
		}
		if len(res.Recording.Profiles) > 0 || said != 1 {
			t.Errorf("%s: %+v", name, res.Recording.Warnings)
		}
	}
}
