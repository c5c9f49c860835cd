package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// A fakeLog is an access log that a test writes, and a window that follows it with a
// clock of its own.
type fakeLog struct {
	t      *testing.T
	path   string
	start  time.Time
	second int
	window *Window
}

func newFakeLog(t *testing.T) *fakeLog {
	t.Helper()
	l := &fakeLog{t: t, path: filepath.Join(t.TempDir(), "access.log"), start: time.Now()}
	l.write(logged(l.start, "/before", 200, 0.1))
	l.window = NewWindow(kasoku.Run{Started: l.start, Hosts: []kasoku.Host{{Name: "web"}}}, nil, 0)
	l.window.access = newAccess([]string{l.path}, l.start, l.window.keep, l.window.Missing)
	t.Cleanup(func() {
		if err := l.window.access.Close(); err != nil {
			t.Error(err)
		}
	})
	l.tick(0)
	return l
}

// logged is a line of nginx's format combined with a request time.
func logged(at time.Time, path string, status int, took float64) string {
	return fmt.Sprintf("10.0.0.1 - - [%s] \"GET %s HTTP/1.1\" %d 1000 \"-\" \"x\" %.3f\n", at.Format("02/Jan/2006:15:04:05 -0700"), path, status, took)
}

func (l *fakeLog) write(text string) {
	l.t.Helper()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// tick samples at a second.
func (l *fakeLog) tick(second int) {
	l.t.Helper()
	l.second = second
	at := time.Duration(second)*time.Second + 3*time.Millisecond
	f := &kasoku.Frame{Host: "web", Source: accessName, At: at}
	for _, g := range l.window.access.take(l.start.Add(at), f) {
		l.window.Missing(g)
	}
	if err := l.window.Frame(f); err != nil {
		l.t.Fatal(err)
	}
}

// now is the time within the second that the next tick ends.
func (l *fakeLog) now() time.Time {
	return l.start.Add(time.Duration(l.second)*time.Second + time.Second/2)
}

// TestAccess: a log that grows is reported by the second, by class of status and by route,
// through a rotation and a truncation, and what it held before is not.
func TestAccess(t *testing.T) {
	l := newFakeLog(t)
	for s := 1; s <= 20; s++ {
		for i := range 50 {
			l.write(logged(l.now(), fmt.Sprintf("/users/%d/items", 100+s*i), 200, 0.010))
		}
		l.write(logged(l.now(), "/buy", 500, 1.5) + logged(l.now(), "/x\x1b[2J", 404, 0.001))
		if s == 10 {
			if err := os.Rename(l.path, l.path+".1"); err != nil {
				t.Fatal(err)
			}
		}
		l.tick(s)
		if s == 15 {
			if err := os.Truncate(l.path, 0); err != nil {
				t.Fatal(err)
			}
			l.write("half a li")
		}
		if s == 16 {
			l.write("ne\n")
		}
	}
	d := l.window.Take()
	for at := 2; at <= 20; at++ {
		all, failed := d.answered(span{at, at})[0], d.answered(span{at, at}, "5xx")[0]
		if all < 51 || all > 53 || failed != 1 {
			t.Errorf("second %d: %g requests and %g 5xx, want 52 and 1", at, all, failed)
		}
	}
	table := look{d, 20}.routes()
	table.arrange(0, "")
	if len(table.rows) != 3 || table.rows[0].words[0] != "GET /users/:id/items" || table.rows[0].values[1] != 50 {
		t.Fatalf("%q: %+v", table.title, table.rows)
	}
	if v := table.rows[0].values; v[2] != 10 || v[3] != 10 || v[5] != 0 || v[6] != 50 {
		t.Errorf("users: p50, p99, 5xx, kB/s are %v", v)
	}
	for _, r := range table.rows {
		if strings.Contains(r.words[0], "\x1b") {
			t.Errorf("%q", r.words[0])
		}
	}
	if len(d.Rec.Gaps) != 0 {
		t.Errorf("gaps %+v", d.Rec.Gaps)
	}
	m := NewModel(d, nil, Options{})
	m.Resize(200, 50)
	m.Go(20)
	s := m.Screen()
	fits(t, s, 200, 50, false)
	for _, want := range []string{"requests            52 /s", "answers 5xx          1 /s", "routes, 10 s to", "2xx 50"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

// TestAccessTooFast: a log that grows faster than it may be read is a gap with a
// reason; its rates are of the whole, and rules are not shown a part.
func TestAccessTooFast(t *testing.T) {
	l := newFakeLog(t)
	line := logged(l.now(), "/"+strings.Repeat("a", 2000), 200, 0.010)
	for s := 1; s <= 3; s++ {
		l.write(logged(l.now(), "/a", 200, 0.010))
		l.tick(s)
	}
	n := 4 * accessPerSec / len(line)
	l.write(strings.Repeat(line, n))
	l.tick(4)
	d := l.window.Take()
	if got := d.answered(span{4, 4})[0]; got < 0.98*float64(n) || got > 1.02*float64(n) {
		t.Errorf("%g requests, want about %d", got, n)
	}
	if w := l.window.access.windows(); len(w) != 1 || !strings.Contains(w[0].Note, "were skipped") || w[0].Host != l.window.access.host {
		t.Errorf("windows %+v", w)
	}
	if len(d.Rec.Gaps) != 1 || d.Rec.Gaps[0].Source != accessName || d.Rec.Gaps[0].Reason != tooFast {
		t.Errorf("gaps %+v", d.Rec.Gaps)
	}
	for s := 5; s <= 80; s++ {
		l.write(logged(l.now(), "/a", 200, 0.010))
		l.tick(s)
		if _, _, whole := l.window.Minute(rulesWindow); whole != (s > 64) {
			t.Errorf("at %d s: whole is %t", s, whole)
		}
	}
}

// TestAccessMinute: rules are shown the routes of the last minute as a run has them, on
// the clock of that minute; a file that is kept has all that is known.
func TestAccessMinute(t *testing.T) {
	l := newFakeLog(t)
	for s := 1; s <= 300; s++ {
		l.write(logged(l.now(), "/a", 200, 0.010) + logged(l.now(), fmt.Sprintf("/%d", s/100), 200, 0.010))
		l.tick(s)
	}
	rec, from, whole := l.window.Minute(rulesWindow)
	if !whole || len(rec.Endpoints) != 2 || rec.Endpoints[0].Host != "" && rec.Endpoints[0].Host != "web" {
		t.Fatalf("%t, %+v", whole, rec.Endpoints)
	}
	var a *kasoku.Endpoint
	for i := range rec.Endpoints {
		if rec.Endpoints[i].Route == "/a" {
			a = &rec.Endpoints[i]
		}
	}
	if a == nil || a.Count < 54 || a.Count > 66 || a.Paths != 1 {
		t.Fatalf("/a: %+v", a)
	}
	for at, s := range a.Seconds {
		if at < 0 || at > 60 || s.Count != 1 {
			t.Errorf("second %d of the minute from %s: %+v", at, from, s)
		}
	}
	var saw kasoku.Interval
	if got, _ := Findings(l.window, []diagnose.Rule{speaks{"NGX-01", &saw}}); len(got) != 1 {
		t.Errorf("findings %v", got)
	}
	rec, _, _ = l.window.Minute(time.Hour)
	var sum uint64
	for _, e := range rec.Endpoints {
		sum += e.Count
	}
	if sum != 600 {
		t.Errorf("%d requests are kept, want 600", sum)
	}
}

// TestAccessMissing: a log that is not there, or holds what is none, is named.
func TestAccessMissing(t *testing.T) {
	l := newFakeLog(t)
	if err := os.Remove(l.path); err != nil {
		t.Fatal(err)
	}
	l.tick(1)
	if g := l.window.Take().Rec.Gaps; len(g) != 0 {
		t.Errorf("in the midst of a rotation: %+v", g)
	}
	l.tick(2)
	l.write("what\n")
	l.tick(3)
	l.write(logged(l.now(), "/a", 200, 0.010))
	l.tick(4)
	gaps := l.window.Take().Rec.Gaps
	if len(gaps) != 2 || !strings.Contains(gaps[0].Reason, "is missing") || !strings.Contains(gaps[1].Reason, "unknown format") {
		t.Errorf("gaps %+v", gaps)
	}
	if got := l.window.Take().answered(span{4, 4})[0]; got != 1 {
		t.Errorf("%g requests, want 1", got)
	}
}

// TestAccessBuffered: lines that a server kept back count when they were logged, and
// that is said.
func TestAccessBuffered(t *testing.T) {
	l := newFakeLog(t)
	var kept string
	for s := 1; s <= 40; s++ {
		kept += logged(l.now(), "/a", 200, 0.010)
		if s%20 == 0 {
			l.write(kept)
			kept = ""
		}
		l.tick(s)
	}
	d := l.window.Take()
	if !d.lateLog {
		t.Error("it is not said that lines are late")
	}
	rec, _, _ := l.window.Minute(time.Hour)
	if n := len(rec.Endpoints[0].Seconds); n < 36 || rec.Endpoints[0].Count != 40 {
		t.Errorf("40 requests of 40 s are in %d seconds: %+v", n, rec.Endpoints[0].Seconds)
	}
}

func BenchmarkAccess(b *testing.B) {
	path := filepath.Join(b.TempDir(), "access.log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	var text strings.Builder
	for i := range 1000 {
		line := logged(start, fmt.Sprintf("/%c/users/%d", 'a'+i%20, i), 200, 0.010)
		text.WriteString(strings.Replace(line, `"x"`, `"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"`, 1))
	}
	a := newAccess([]string{path}, start, DefaultKeep, func(kasoku.Gap) {})
	defer a.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.SetBytes(int64(text.Len()))
	for i := 1; b.Loop(); i++ {
		if i%100 == 0 {
			_ = f.Truncate(0)
		}
		if _, err := f.WriteString(text.String()); err != nil {
			b.Fatal(err)
		}
		a.take(start.Add(time.Duration(i)*time.Second), &kasoku.Frame{})
	}
}

// TestAccess_Fair: a log that grows too fast to be read does not starve the others, nor
// are theirs made more than they are.
func TestAccess_Fair(t *testing.T) {
	l := newFakeLog(t)
	small := filepath.Join(t.TempDir(), "b.log")
	if err := os.WriteFile(small, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.window.access.Close(); err != nil {
		t.Fatal(err)
	}
	l.window.access = newAccess([]string{l.path, small}, l.start, l.window.keep, l.window.Missing)
	l.tick(0)
	big := l.path
	line := logged(l.start, "/static/"+strings.Repeat("a", 2000), 200, 0.01)
	for s := 1; s <= 5; s++ {
		l.path = big
		l.write(strings.Repeat(line, (7<<20)/len(line)))
		l.path = small
		l.write(strings.Repeat(logged(l.now(), "/api", 500, 0.1), 100))
		l.tick(s)
	}
	d := l.window.Take()
	for _, n := range d.answered(span{2, 5}, "5xx") {
		if n < 99 || n > 101 {
			t.Errorf("errors a second: %v, want 100", d.answered(span{2, 5}, "5xx"))
			break
		}
	}
}

// TestAccess_LongInterval: what a log may gain is so much a second, however seldom it is
// read.
func TestAccess_LongInterval(t *testing.T) {
	l := newFakeLog(t)
	line := logged(l.now(), "/"+strings.Repeat("a", 2000), 200, 0.010)
	for s := 10; s <= 30; s += 10 {
		l.write(strings.Repeat(line, 10*(1<<20)/len(line)))
		l.tick(s)
	}
	if gaps := l.window.Take().Rec.Gaps; len(gaps) > 0 {
		t.Errorf("1 MiB a second, read each 10 s: %+v", gaps)
	}
}

// TestAccess_LateOnce: one line that comes late, as that of a slow request does where its
// start is logged, is no buffer for ever.
func TestAccess_LateOnce(t *testing.T) {
	l := newFakeLog(t)
	for s := 1; s <= 70; s++ {
		if l.write(logged(l.now(), "/a", 200, 0.01)); s == 5 {
			l.write(logged(l.now().Add(-5*time.Second), "/slow", 200, 5))
		}
		l.tick(s)
		if late := l.window.Take().lateLog; late != (s >= 5 && s <= 65) {
			t.Fatalf("at %d s: late %v", s, late)
		}
	}
}
