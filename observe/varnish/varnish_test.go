package varnish

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const modern = `{"version": 1, "timestamp": "2026-11-21T02:00:00", "counters": {
 "MAIN.client_req": {"description": "Good client requests received", "flag": "c", "format": "i", "value": 120},
 "MAIN.cache_hit": {"description": "Cache hits", "flag": "c", "format": "i", "value": 100},
 "MAIN.n_object": {"description": "object structs made", "flag": "g", "format": "i", "value": 3},
 "LCK.ban.creat": {"description": "x", "flag": "c", "format": "i", "value": 1}}}`

const old = `{"timestamp": "2019-11-21T02:00:00", "MAIN.client_req": {"description": "x", "type": "MAIN", "flag": "c", "format": "i", "value": 7}}`

func TestParse(t *testing.T) {
	got, err := Parse([]byte(modern))
	if err != nil || len(got) != 3 || got[0] != (Counter{"MAIN.cache_hit", kasoku.Counter, 100}) || got[2] != (Counter{"MAIN.n_object", kasoku.Gauge, 3}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = Parse([]byte(old)); err != nil || len(got) != 1 || got[0].Value != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "{}", "[]", `{"counters": 1}`, `{"counters": {"MAIN.client_req": 1}}`, strings.Replace(modern, "120", "-1", 1)} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(modern)
	f.Add(old)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse([]byte(text))
		if err == nil && len(got) > len(wanted) {
			t.Errorf("%+v", got)
		}
	})
}

// TestCollect: the program is run with the instance's name, and what goes wrong is
// the reason of a gap.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "stat")
	script := func(text string) {
		t.Helper()
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Options{Program: program, Name: "/x"})
	var f kasoku.Frame
	script("echo Could not get hold of varnishd >&2; exit 1\n")
	if err := s.Collect(t.Context(), &f); err == nil || !strings.Contains(err.Error(), "Could not get hold of varnishd") {
		t.Error(err)
	}
	script("[ \"$*\" = '-j -t 0 -n /x' ] || exit 2\ncat <<'EOF'\n" + modern + "\nEOF\n")
	if err := s.Collect(t.Context(), &f); err != nil || len(f.Samples) != 3 {
		t.Errorf("%v, %+v", err, f.Samples)
	}
	if err := New(Options{Program: filepath.Join(dir, "none")}).Collect(t.Context(), &f); err == nil {
		t.Error("a program that is not there is none")
	}
}

// TestCollect_Server: a real Varnish has every counter that is declared.
func TestCollect_Server(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }))
	t.Cleanup(app.Close)
	server := sandboxtest.Varnish(t, sandbox.VarnishOptions{Upstream: strings.TrimPrefix(app.URL, "http://")})
	for range 3 {
		resp, err := http.Get("http://" + server.Addr() + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // nothing of it is needed
	}
	// A worker adds what it counted to the counters when it has nothing to do, or after a while.
	var f kasoku.Frame
	counted := 0.0
	for until := time.Now().Add(20 * time.Second); counted < 3 && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		f = kasoku.Frame{}
		if err := New(Options{Name: server.Dir}).Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		for _, x := range f.Samples {
			if x.Name == ClientRequests {
				counted = x.Value
			}
		}
	}
	observetest.Sampled(t, &Declared, f.Samples, nil)
	if counted != 3 {
		t.Errorf("3 requests count as %v", counted)
	}
}
