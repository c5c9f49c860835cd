package attack

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// kinds are the database servers that are attacked.
var kinds = map[string]func(testing.TB, sandbox.Options) *sandbox.Server{
	sandbox.KindMariaDB: sandboxtest.MariaDB, sandbox.KindMySQL97: sandboxtest.MySQL97,
}

// onStores runs a test beside each kind of database server.
func onStores(t *testing.T, test func(w *world, st *dbServer)) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test(w, w.addStore(start))
		})
	}
}

// recording is the command line of a recording that changes all it can on a server.
func (st *dbServer) recording(name string, command ...string) []string {
	args := []string{"record", "--mysql", st.dsn, "--digests", "--interval", "100ms", "--out", name}
	return append(append(args, "--"), command...)
}

// TestKill kills recorders with -9 at random moments of their life, by turns alone and
// with their process group. Settings, sessions, journal, temporary files, processes and
// sockets are what they were; each run file opens, and says that all is put back.
func TestKill(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	onStores(t, func(w *world, st *dbServer) {
		kills := times(3, 100)
		life := w.life(st)
		opened := map[kasoku.RunState]int{}
		for n := range kills {
			name := fmt.Sprintf("kill-%d.kasoku", n)
			moment := time.Duration(w.rand.Int64N(int64(life)))
			w.unchanged(fmt.Sprintf("kill %d after %s", n, moment), func() {
				p := w.start(st.recording(name, "sh", "-c", "sleep 1000 & sleep 0.2; kill $!")...)
				p.killAfter(moment, n%2 == 1)
				w.run(patience, "list") // the next start sweeps what has no process any more
			})
			opened[w.opens(w.path(name))]++
			if w.Failed() {
				return
			}
		}
		w.Logf("%d kills within %s: %v", kills, life, opened)
	})
}

// life is how long a recording takes, which must itself leave nothing.
func (w *world) life(st *dbServer) time.Duration {
	w.Helper()
	began := time.Now()
	w.unchanged("a whole recording", func() {
		code, out := w.run(patience, st.recording("whole.kasoku", "sleep", "0.2")...)
		w.wants("a whole recording", code, out, 0)
	})
	return min(time.Since(began), 4*time.Second)
}

func (p *proc) killAfter(moment time.Duration, group bool) {
	select {
	case <-time.After(moment):
	case <-p.ended:
	}
	pid := p.cmd.Process.Pid
	if group {
		pid = -pid
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	<-p.ended
}

// opens opens the run file of a recorder that was stopped, if it came to have one, and
// returns its state.
func (w *world) opens(path string) kasoku.RunState {
	w.Helper()
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return "" // it was killed before it made the file
	}
	rec, err := store.Open(path)
	if err != nil {
		if store.Describe(path).SizeBytes == 0 {
			return ""
		}
		w.Errorf("open: %v", err)
		return "broken"
	}
	for _, c := range rec.Changes {
		if !c.Restored {
			w.Errorf("%s: %+v", path, c)
		}
	}
	return rec.Run.State
}

// stops are the signals that end a program.
var stops = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL}

// TestSignals sends signals at random moments to what takes its time. A signal other
// than KILL ends it within seconds, in order, and never with exit code 0 where it had
// more to do.
func TestSignals(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	st := w.addStore(sandboxtest.MariaDB)
	web := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "ok") }))
	defer web.Close()
	log := w.write("big.log", strings.Repeat("time:2026-01-02T03:04:05+00:00\tmethod:GET\turi:/a\tstatus:200\tsize:3\treqtime:0.001\n", 400_000))
	w.run(patience, "record", "--out", "shown.kasoku", "--", "true")
	commands := map[string][]string{
		"record":    st.recording("signal.kasoku", "sleep", "30"),
		"record on": {"record", "--mysql", st.dsn, "--for", "30s", "--out", "signal.kasoku"},
		"attack":    {"attack", "-target", "GET " + web.URL, "-rate", "50", "-duration", "30s", "-output", "signal.gob"},
		"accesslog": {"accesslog", log},
		"show":      {"show", "shown.kasoku"},
		"export":    {"export", "shown.kasoku", "--to", "csv"},
	}
	for _, name := range sorted(commands) {
		first := w.rand.IntN(len(stops))
		for n := range times(1, 5*len(stops)) {
			w.signalled(name, stops[(n+first)%len(stops)], commands[name])
		}
	}
}

func (w *world) signalled(name string, s syscall.Signal, args []string) {
	w.Helper()
	moment := time.Duration(w.rand.Int64N(int64(1500 * time.Millisecond)))
	what := fmt.Sprintf("%s %s after %s", name, s, moment)
	w.unchanged(what, func() {
		p := w.startAs(invocation{quit: s == syscall.SIGQUIT}, args...)
		endless := slices.Contains([]string{"attack", "record", "record on"}, name)
		select {
		case <-time.After(moment):
		case <-p.ended:
			if endless {
				w.Errorf("%s: it ended before: exit %d\n%s", what, p.wait(0), tail(p.printed()))
			}
			return
		}
		p.signal(s)
		code := p.wait(patience)
		if endless && code == 0 {
			w.Errorf("%s: exit 0\n%s", what, tail(p.printed()))
		}
	})
	for _, left := range []string{"signal.kasoku", "signal.gob"} {
		paths, _ := filepath.Glob(w.path(left) + "*") // the pattern is good
		for _, path := range paths {
			_ = os.Remove(path)
		}
	}
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestSideBySide: of three database servers and three nginx only those are touched that
// are named.
func TestSideBySide(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	if !whole() {
		t.Skip("takes six servers; make attack has it")
	}
	named := w.addStore(sandboxtest.MariaDB)
	others := []*dbServer{w.addStore(sandboxtest.MariaDB), w.addStore(sandboxtest.MySQL97)}
	var webs []*sandbox.NginxServer
	for range 3 {
		web := sandboxtest.Nginx(t, sandbox.NginxOptions{})
		webs = append(webs, web)
		w.kept = append(w.kept, web.ConfigFile)
	}
	w.kept = append(w.kept, webs[1].AccessLog, webs[2].AccessLog)
	before := []snapshot{settingsOf(w, others[0]), settingsOf(w, others[1])}
	var calls fault // none fails; it sees where connections are made to
	w.unchanged("side by side", func() {
		p := w.startFaulty(&calls, "record", "--mysql", named.dsn, "--digests", "--accesslog", webs[0].AccessLog,
			"--interval", "100ms", "--for", "3s", "-o", "side.kasoku")
		if !p.until(func() bool {
			return settingsOf(w, named)[fmt.Sprintf("setting slow_query_log of mariadb %d", named.s.Port)] == "ON"
		}) {
			t.Errorf("the slow log is not switched on\n%s", tail(p.printed()))
		}
		for i, st := range others {
			if d := before[i].compare(settingsOf(w, st)); len(d) > 0 {
				t.Errorf("another server's settings while it records: %v", d)
			}
		}
		code := p.wait(patience)
		w.wants("side by side", code, p.printed(), 0)
	})
	to := calls.connectedTo()
	if !slices.Contains(to, fmt.Sprint(named.s.Port)) {
		t.Errorf("no connection to the server that is named is seen: %v", to)
	}
	for _, st := range others {
		if slices.Contains(to, fmt.Sprint(st.s.Port)) || slices.Contains(to, st.s.Socket) {
			t.Errorf("connections to a server that is not named: %v", to)
		}
	}
}

func settingsOf(w *world, st *dbServer) snapshot {
	w.Helper()
	s := snapshot{}
	st.add(w.T, s)
	return s
}
