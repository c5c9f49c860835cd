package attack

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// accessLine is a good line of an access log, n seconds after the beginning.
func accessLine(at time.Time, uri string) string {
	return "time:" + at.Format(time.RFC3339) + "\tmethod:GET\turi:" + uri + "\tstatus:200\tsize:3\treqtime:0.001\n"
}

// planted is a secret that a client or an application wrote into a log.
const planted = "hunter2planted0123456789abcdef"

// logs are damaged and hostile logs.
func logs(r *rand.Rand, size int) map[string]string {
	garbage := make([]byte, size)
	for i := range garbage {
		garbage[i] = byte(r.Uint32())
	}
	base := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var steps strings.Builder
	for n := range size / 100 { // a clock that is set, by hours, both ways
		steps.WriteString(accessLine(base.Add(time.Duration(n)*time.Second+time.Duration(r.IntN(3)-1)*time.Hour), "/a"))
	}
	good := accessLine(base, "/a")
	return map[string]string{
		"garbage":         string(garbage),
		"garbage between": good + string(garbage) + "\n" + good,
		"huge line":       good + strings.Repeat("x", 4*size) + "\n" + good,
		"huge unended":    good + strings.Repeat("x", 4*size),
		"newlines":        strings.Repeat("\n", size),
		"newlines first":  strings.Repeat("\n", size) + good,
		"carriage":        strings.Repeat("\r", size) + good,
		"zeros":           strings.Repeat("\x00", size),
		"tabs":            strings.Repeat("\t", size),
		"colons":          strings.Repeat("a:", size/2) + "\n",
		"quotes":          strings.Repeat("\"", size) + "\n",
		"escapes":         strings.Repeat(accessLine(base, "/\x1b[2J\x1b]0;evil\x07"), 50),
		"mask":            strings.Repeat("a:token=AAAAAAAAAAAAAAAAAAAA&b@c\n", 50),
		"secrets":         strings.Repeat(accessLine(base, "/login?password="+planted+"&token="+planted), 50),
		"clock steps":     steps.String(),
		"comments":        strings.Repeat("/*", size/2) + "\n",
		"slow newlines":   "# Time: 2026-01-02T03:04:05.000000Z\n# Query_time: 1 Lock_time: 0 Rows_sent: 1 Rows_examined: 1\n" + strings.Repeat("\n", size) + "select 1;\n",
		"slow parens":     "# Time: 2026-01-02T03:04:05.000000Z\n# Query_time: 1 Lock_time: 0 Rows_sent: 1 Rows_examined: 1\nselect " + strings.Repeat("(", size) + ";\n",
		"slow values":     "# Time: 2026-01-02T03:04:05.000000Z\n# Query_time: 1 Lock_time: 0 Rows_sent: 1 Rows_examined: 1\ninsert into t values " + strings.Repeat("(1,'a'),", size/8) + "(1,'b');\n",
		"slow escapes":    "# Time: 2026-01-02T03:04:05.000000Z\n# User@Host: \x1b[2J[evil] @ [\x07]\n# Query_time: 1e308 Lock_time: -1 Rows_sent: 99999999999999999999 Rows_examined: 1\nselect '\x1b[2J';\n",
	}
}

// readers are the commands that read logs.
var readers = [][]string{{"accesslog"}, {"slowlog"}}

// TestLogs reads each damaged log by each command that reads logs, within seconds.
func TestLogs(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	all := logs(w.rand, times(200_000, 1_000_000))
	for _, name := range sorted(all) {
		file := w.write(strings.ReplaceAll(name, " ", "-")+".log", all[name])
		w.kept = []string{file}
		w.unchanged(name, func() {
			for _, args := range readers {
				p := w.start(append(append([]string{}, args...), file)...)
				what := args[0] + " of " + name
				right := []int{0, 1, 3}
				if name == "zeros" {
					right = append(right, 2) // that is a binary, and no log was named
				}
				w.wants(what, p.wait(patience), p.printed(), right...)
				w.bounded(what, p)
			}
		})
	}
}

// mishaps are what becomes of a log while it is recorded.
var mishaps = map[string]func(w *world, log string) error{
	"truncated": func(_ *world, log string) error { return os.Truncate(log, 0) },
	"rotated": func(_ *world, log string) error {
		if err := os.Rename(log, log+".1"); err != nil {
			return err
		}
		return os.WriteFile(log, nil, 0o644)
	},
	"removed": func(_ *world, log string) error { return os.Remove(log) },
	"fifo": func(_ *world, log string) error {
		_ = os.Remove(log)
		return syscall.Mkfifo(log, 0o644)
	},
	"link": func(w *world, log string) error {
		_ = os.Remove(log)
		return os.Symlink(w.path("private"), log)
	},
	"directory": func(_ *world, log string) error {
		_ = os.Remove(log)
		return os.Mkdir(log, 0o755)
	},
	"garbage": func(w *world, log string) error {
		return os.WriteFile(log, []byte(logs(w.rand, 100_000)["garbage between"]), 0o644)
	},
	"forbidden": func(_ *world, log string) error { return os.Chmod(log, 0) },
}

// TestLogMishaps spoils a log in the middle of a recording. It ends in order; where
// requests were lost its run says so.
func TestLogMishaps(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	names := sorted(mishaps)
	if !whole() {
		names = []string{"fifo", "link", "truncated"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			log := w.write("access.log", "")
			w.write("private", canary+"\n")
			w.unchanged(name, func() { w.spoil(name, log) })
			if name == "link" {
				_ = os.Remove(w.path("private"))
				_ = os.Remove(log)
				w.holdsNo("a link", canary)
			}
		})
	}
}

func (w *world) spoil(name, log string) {
	w.Helper()
	p := w.start("record", "--accesslog", log, "--interval", "100ms", "--for", "3s", "--out", "spoilt.kasoku")
	p.sampled("spoilt.kasoku")
	appendTo(w, log, strings.Repeat(accessLine(time.Now(), "/before"), 20))
	p.sampledSize("spoilt.kasoku", log)
	if err := mishaps[name](w, log); err != nil {
		w.Fatal(err)
	}
	if name == "rotated" {
		appendTo(w, log, strings.Repeat(accessLine(time.Now(), "/after"), 20))
	}
	code := p.wait(patience)
	w.wants("a log that is "+name, code, p.printed(), 0, 3)
	rec, err := store.Open(w.path("spoilt.kasoku"))
	if err != nil {
		w.Errorf("%s: %v", name, err)
		return
	}
	var n uint64
	for _, e := range rec.Endpoints {
		n += e.Count
	}
	lost := n < 20 || name == "rotated" && n < 40
	knowable := name != "garbage" // the log is longer than it was: what it lost cannot be known
	if lost && (code == 0 && knowable || len(rec.Warnings) == 0) {
		w.Errorf("%s: %d requests of 20, exit %d, %d warnings", name, n, code, len(rec.Warnings))
	}
	if name == "rotated" && lost {
		w.Errorf("%s: %d requests of 40", name, n)
	}
}

// sampled waits until a recording has samples: by then it has marked where its logs end.
func (p *proc) sampled(name string) {
	p.w.Helper()
	p.sampledSeries(name, func(kasoku.Series) bool { return true })
}

// sampledSize waits until a recording has seen how long a log is now.
func (p *proc) sampledSize(name, log string) {
	p.w.Helper()
	info, err := os.Stat(log)
	if err != nil {
		p.w.Fatal(err)
	}
	p.sampledSeries(name, func(s kasoku.Series) bool {
		return s.Key.Source == "log" && s.Key.Instance == log && s.Points[len(s.Points)-1].Value >= float64(info.Size())
	})
}

func (p *proc) sampledSeries(name string, wanted func(kasoku.Series) bool) {
	p.w.Helper()
	if !p.until(func() bool {
		rec, err := store.Open(p.w.path(name))
		return err == nil && slices.ContainsFunc(rec.Series, wanted)
	}) {
		p.w.Fatalf("no samples in %s\n%s", name, tail(p.printed()))
	}
}

func appendTo(w *world, path, text string) {
	w.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		w.Fatal(err)
	}
}

// TestSecrets: what clients put into URLs is in no run file, and in nothing printed.
func TestSecrets(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	log := w.write("access.log", "")
	p := w.start("record", "--accesslog", log, "--interval", "100ms", "--for", "2s", "--out", "secret.kasoku")
	p.sampled("secret.kasoku")
	appendTo(w, log, logs(w.rand, 1000)["secrets"])
	code := p.wait(patience)
	w.wants("record", code, p.printed(), 0)
	_ = os.Remove(log)
	w.holdsNo("record", planted)
	for _, args := range [][]string{{"show", "secret.kasoku"}, {"show", "secret.kasoku", "-o", "json"}, {"diagnose", "secret.kasoku", "--html", "out.html"}} {
		code, out := w.run(patience, args...)
		w.wants(args[0], code, out, 0, 1, 2)
		if strings.Contains(out, planted) {
			w.Errorf("%v prints %s", args, around(out, planted))
		}
	}
	w.holdsNo("show", planted)
}

// settingsFiles are hostile kasoku.toml files.
func settingsFiles(r *rand.Rand) map[string]string {
	good := "project = 'a'\n[load]\nfor = '1s'\n[logs]\naccess = ['access.log']\n"
	mutated := []byte(good)
	for range 5 {
		mutated[r.IntN(len(mutated))] = byte(r.Uint32())
	}
	return map[string]string{
		"mutated": string(mutated),
		"deep":    "a = " + strings.Repeat("[", 100_000),
		"huge":    "project = '" + strings.Repeat("x", 20<<20) + "'\n",
		"escapes": "project = \"\\u001b[2J\"\n[load]\nfor = '1s'\nlabel\x1b[2J = 1\n",
		"garbage": "\xff\xfe\x00\x1b[2J",
		"climbs":  "project = '../../../../etc'\nruns = '../../../../../../proc/self'\n[load]\nfor = '1s'\n",
		"keys":    strings.Repeat("[load]\nfor = '1s'\n", 10_000),
	}
}

// TestConfigs runs with hostile configurations.
func TestConfigs(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	for range times(1, 20) {
		all := settingsFiles(w.rand)
		for _, name := range sorted(all) {
			w.write("kasoku.toml", all[name])
			w.unchanged(name, func() {
				for _, args := range [][]string{{"doctor"}, {"run"}} {
					code, out := w.run(patience, args...)
					w.wants(fmt.Sprintf("%v with a configuration of %s", args, name), code, out, 0, 1, 2, 3)
				}
			})
			_ = os.Remove(w.path("kasoku.toml"))
		}
		if !whole() {
			break
		}
	}
}
