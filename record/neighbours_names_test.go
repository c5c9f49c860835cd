package record

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRecord_NeighboursNames: what a busy neighbour's program is called is nowhere in the run, and
// what it used is; the service's own names stay.
func TestRecord_NeighboursNames(t *testing.T) {
	const name = "nbplanted"
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	busy := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(busy, shell, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := command.Start(t.Context(), command.Spec{Path: busy, Args: []string{"-c", "while :; do :; done"}, DieWithParent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop() })
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{})
	engine, err := nethttp.New(nethttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.kasoku")
	var meanwhile []byte // of the file and its log while the run went on, as one that is killed leaves them
	keep := func(Progress) {
		for _, file := range []string{path, path + "-wal"} {
			b, err := os.ReadFile(file)
			if err == nil { // there may be no log yet
				meanwhile = append(meanwhile, b...)
			}
		}
	}
	res, err := Record(t.Context(), Options{Path: path, OnProgress: keep, Course: Course{Load: &Load{Targets: []load.Target{{Method: http.MethodGet,
		URL: web.URL() + "/"}}, Engine: engine, Each: 4 * time.Second, Next: Climb(2000)}}}) // some ticks of CPU in each second
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, []byte(name)) {
		at := bytes.Index(file, []byte(name))
		t.Errorf("the file holds the name of a neighbour's program: %q", file[max(0, at-200):min(len(file), at+200)])
	}
	if bytes.Contains(meanwhile, []byte(name)) || !bytes.Contains(meanwhile, []byte(" "+mask.Neighbour)) {
		t.Error("a run that is killed would name a neighbour's program, or hold nothing of it")
	}
	has := func(series, word string) bool {
		return slices.ContainsFunc(res.Recording.FindAll(process.Name, series), func(s *kasoku.Series) bool {
			return strings.Contains(s.Key.Instance, word) && len(s.Points) > 2
		})
	}
	for _, c := range []struct {
		series, word string
	}{{process.CPUUser, " nginx"}, {process.CPUUser, " " + mask.Neighbour}, {process.ExeCPU, "nginx"}, {process.ExeCPU, mask.Neighbour}} {
		if !has(c.series, c.word) {
			t.Errorf("no series %s of %q", c.series, c.word)
		}
	}
}
