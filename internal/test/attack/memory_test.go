package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A group is a control group whose memory is limited.
type group struct{ dir, limit string }

// newGroup makes a group in the group of this process, of version 2 where memory is
// controlled by that, else of version 1.
func (w *world) newGroup() group {
	w.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		w.Skipf("no control groups: %v", err)
	}
	var why error
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path: cgroups(7)
		if len(parts) < 3 || parts[1] != "" && parts[1] != "memory" {
			continue
		}
		places := map[string]string{filepath.Join("/sys/fs/cgroup", parts[2]): "memory.max"}
		if parts[1] == "memory" {
			const v1, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
			places = map[string]string{filepath.Join(v1, parts[2]): limit, v1: limit}
		}
		for place, limit := range places {
			g := group{filepath.Join(place, "kasoku-attack-"+filepath.Base(w.dir)), limit}
			err := os.Mkdir(g.dir, 0o755)
			if err == nil {
				if _, err = os.Stat(filepath.Join(g.dir, g.limit)); err == nil {
					w.Cleanup(func() { _ = os.Remove(g.dir) })
					return g
				}
				_ = os.Remove(g.dir)
			}
			why = errors.Join(why, err)
		}
	}
	w.Skipf("no control group that limits memory can be made here; the limits of TestLimits remain: %v", why)
	return group{}
}

// TestMemory records in a control group with too little memory. The kernel kills the
// recorder, its guard process or both at some moment: never exit code 0 and half a run;
// the guard process, or `kasoku restore` where it was killed too, puts all back.
func TestMemory(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	if os.Geteuid() != 0 {
		t.Skip("a control group takes root")
	}
	g := w.newGroup()
	st := w.addStore(sandboxtest.MariaDB)
	limits := []int{6, 8, 9, 10, 11, 12, 13, 14, 16, 32}
	if !whole() {
		limits = []int{limits[w.rand.IntN(len(limits))]}
	}
	for _, mb := range limits {
		for range times(1, 3) {
			w.squeezed(st, g, mb)
		}
	}
}

func (w *world) squeezed(st *dbServer, g group, mb int) {
	w.Helper()
	what := fmt.Sprintf("memory of %d MB", mb)
	if err := os.WriteFile(filepath.Join(g.dir, g.limit), []byte(fmt.Sprint(mb<<20)), 0o644); err != nil {
		w.Fatal(err)
	}
	into := []string{"sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, g.dir}
	w.unchanged(what, func() {
		p := w.startAs(invocation{wrap: into}, st.recording("squeezed.kasoku", "sleep", "0.7")...)
		code := p.wait(patience)
		switch code {
		case 0:
			w.complete(what, w.path("squeezed.kasoku"))
		case 3, signalKilled + 9:
		default:
			w.Errorf("%s: exit %d\n%s", what, code, tail(p.printed()))
		}
		code, out := w.run(patience, "restore")
		w.Logf("%s: exit %d, at most %d MB held; restore: exit %d, %s", what, p.code(), maxRSS(p)>>20, code, firstLine(out))
	})
	w.opens(w.path("squeezed.kasoku"))
	w.forget("squeezed.kasoku")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
