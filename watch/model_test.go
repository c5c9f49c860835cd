package watch

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/golden"
)

// A fake feed is a window that the test fills.
type fakeFeed struct {
	window *Window
	now    time.Duration
	since  time.Time // from when on now goes on; zero: it stands
	saved  error
	jump   time.Duration // how much further each look is
	ends   time.Duration // when the run ends; 0: never
	began  int           // second of the first look
}

func (f *fakeFeed) Take() *Data {
	d := f.window.Take()
	f.now += f.jump
	if f.began == 0 {
		f.began = int(f.now / sec)
	}
	if f.ends > 0 && f.now >= f.ends {
		f.now, d.Live = f.ends, false
	}
	d.Rec.Run.Length = f.now
	if !f.since.IsZero() {
		d.Rec.Run.Length += time.Since(f.since)
	}
	return d
}
func (f *fakeFeed) Mark(at time.Duration, text string) error { f.window.Mark(at, text); return nil }
func (f *fakeFeed) Save() (string, error)                    { return "runs/x.kasoku", f.saved }

// TestKeysInTime: where the keys lead.
func TestKeysInTime(t *testing.T) {
	f := &fakeFeed{window: filled(t, time.Hour, 300), now: 300 * sec}
	m := NewModel(f.Take(), f, Options{})
	press := func(want int, state string, keys ...string) {
		t.Helper()
		for _, k := range keys {
			m.Key(k, "")
		}
		if m.at != want || !strings.HasPrefix(m.state(), state) {
			t.Errorf("after %v: at %d, %q; want %d, %q", keys, m.at, m.state(), want, state)
		}
	}
	press(300, "live")
	press(298, "paused, 2 s ago", "left", "left")
	press(288, "paused", "shift+left")
	press(0, "paused", "home")
	press(10, "paused", "shift+right")
	f.now = 310 * sec
	m.Tick()
	press(10, "paused, 5 min ago")
	press(310, "live", "end")
	press(310, "paused", "p")
	f.now = 320 * sec
	m.Tick()
	press(310, "paused")
	press(320, "live", "p")
}

// TestReplayKeys: a run plays by itself, and stops at its end.
func TestReplayKeys(t *testing.T) {
	m := NewModel(Replay(sample()), nil, Options{})
	m.Tick()
	m.Tick()
	if m.at != 2 || !m.play {
		t.Errorf("at %d, plays %t after two pictures", m.at, m.play)
	}
	m.Key("+", "")
	m.Key("+", "")
	if got := m.every(); got != 200*time.Millisecond {
		t.Errorf("a picture each %s at ×5", got)
	}
	m.Key("space", " ")
	m.Tick()
	if m.at != 2 {
		t.Error("it plays although it is paused")
	}
	m.Key("end", "")
	m.Key("p", "")
	if m.at != 0 || !m.play {
		t.Errorf("play at the end: at %d, plays %t; want from the beginning", m.at, m.play)
	}
	m.Key("m", "m")
	m.Key("enter", "")
	if !strings.Contains(m.message, "kasoku note") {
		t.Errorf("a mark in a run file: %q", m.message)
	}
}

// TestTables: tab, sort, filter, scroll.
func TestTables(t *testing.T) {
	m := NewModel(Replay(sample()), nil, Options{})
	m.stay()
	m.Go(290)
	order := func() (names []string) {
		for _, r := range m.table(m.tables.pane).rows {
			names = append(names, r.words[0])
		}
		return names
	}
	if got := order(); got[0] != "userapi" {
		t.Errorf("by CPU: %v", got)
	}
	m.Key("s", "s")
	if got := order(); got[0] != "mariadbd" {
		t.Errorf("by RSS: %v", got)
	}
	for _, k := range []string{"/", "k", "A", "S"} {
		m.Key(k, k)
	}
	if got := order(); len(got) != 1 || got[0] != "kasoku" {
		t.Errorf("filtered by kas: %v", got)
	}
	m.Key("enter", "")
	m.Key("esc", "")
	if got := order(); len(got) != 4 {
		t.Errorf("filter taken away: %v", got)
	}
	seen := map[string]bool{}
	for range panes {
		m.Key("tab", "")
		seen[m.tables.pane] = true
	}
	for _, want := range []string{"statements", "database", "cores", "units", "routes", "disks", "network", "findings", "events", "series", "processes"} {
		if !seen[want] {
			t.Errorf("tab does not come to %s", want)
		}
	}
}

// TestMarkAndSave: what is typed becomes an event; control bytes do not.
func TestMarkAndSave(t *testing.T) {
	f := &fakeFeed{window: filled(t, time.Hour, 30), now: 30 * sec}
	m := NewModel(f.Take(), f, Options{})
	m.Key("m", "m")
	m.Key("q", "q")
	m.Key("\x1b", "\x1b[31m")
	m.Update(tea.PasteMsg{Content: "uick\x07 fix\n"})
	m.Key("backspace", "")
	m.Key("enter", "")
	e := f.Take().Rec.Events
	if len(e) != 1 || e[0].Text != "q[31muick fi" || e[0].At != 30*sec || e[0].Kind != "mark" {
		t.Errorf("events %+v", e)
	}
	m.Update(m.Key("w", "w")())
	if m.message != "kept as runs/x.kasoku" {
		t.Errorf("after w: %q", m.message)
	}
	f.saved = errors.New("disk \x1b[2Jfull")
	m.Update(m.Key("w", "w")())
	if s := m.Screen(); !strings.Contains(s, "not kept: disk full") || strings.Contains(s, "\x1b") {
		t.Errorf("after w on a full disk:\n%s", s)
	}
	if cmd := m.Key("ctrl+c", ""); cmd == nil {
		t.Error("ctrl-c does not quit")
	}
}

// TestColours: nothing but bold, dim and the six foreground colours.
func TestColours(t *testing.T) {
	m := NewModel(Replay(sample()), nil, Options{Color: true})
	m.Resize(200, 50)
	m.stay()
	m.Go(290)
	for _, keys := range []string{"", "1", "?"} {
		m.Key(keys, keys)
		for part := range strings.SplitSeq(m.Screen(), "\x1b[") {
			code, _, ok := strings.Cut(part, "m")
			if !ok || strings.Trim(code, "0123456789;") != "" {
				continue
			}
			switch code {
			case "", "0", "1", "2", "31", "33", "36":
			default:
				t.Errorf("colour %q", code)
			}
		}
	}
}

// TestLines: a run as lines, a second each.
func TestLines(t *testing.T) {
	rec := sample()
	m := NewModel(Replay(rec), nil, Options{})
	var out bytes.Buffer
	if err := Lines(t.Context(), &out, m); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	var some []string
	for i, l := range lines {
		if i < 4 || strings.HasPrefix(l, "#") || i > len(lines)-5 {
			some = append(some, l)
		}
	}
	golden.CheckString(t, "testdata/lines.txt", strings.Join(some, "\n"))
}

// TestLinesEnd: lines of what is live come once a second and end with the context.
func TestLinesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeFeed{window: filled(t, time.Hour, 30), now: 30 * sec}
		f.window.rec.Events = []kasoku.Event{{At: 33 * sec, Kind: "mark", Text: "x\x1b[31m"}}
		m := NewModel(f.Take(), f, Options{ASCII: true})
		ctx, cancel := context.WithTimeout(t.Context(), 5*sec+sec/2)
		defer cancel()
		f.since = time.Now()
		var out bytes.Buffer
		if err := Lines(ctx, &out, m); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 8 || !strings.Contains(out.String(), "mark: x\n") {
			t.Errorf("%d lines:\n%s", n, out.String())
		}
	})
}

// TestLinesMissNoSecond: each second has one line, when all of it was handed over, and
// the lines end with a run that has ended.
func TestLinesMissNoSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeFeed{window: filled(t, time.Hour, 60), now: 10 * sec, jump: 3 * sec, ends: 40 * sec}
		m := NewModel(f.Take(), f, Options{})
		var out bytes.Buffer
		if err := Lines(t.Context(), &out, m); err != nil {
			t.Fatal(err)
		}
		var at []string
		for l := range strings.Lines(out.String()) {
			if len(l) > 8 && l[2] == ':' {
				at = append(at, l[:8])
			}
		}
		for i, s := 0, f.began; s <= 40; i, s = i+1, s+1 {
			if i >= len(at) || at[i] != m.data.clock(s) {
				t.Fatalf("line %d is not that of %s: %v", i, m.data.clock(s), at)
			}
		}
	})
}

// TestQuitWhileKeeping: quitting waits for the file that is being kept.
func TestQuitWhileKeeping(t *testing.T) {
	f := &fakeFeed{window: filled(t, time.Hour, 3), now: 3 * sec, saved: errors.New("disk full")}
	m := NewModel(f.Take(), f, Options{})
	if path, err := m.Wait(); path != "" || err != nil {
		t.Errorf("nothing was to be kept: %q, %v", path, err)
	}
	m.Key("w", "w")
	m.Key("q", "q")
	if path, err := m.Wait(); path == "" || err == nil {
		t.Errorf("%q, %v", path, err)
	}
}

// TestMarkWherePressed: a mark has the time at which its key was pressed.
func TestMarkWherePressed(t *testing.T) {
	f := &fakeFeed{window: filled(t, time.Hour, 30), now: 20 * sec}
	m := NewModel(f.Take(), f, Options{})
	m.Key("m", "m")
	f.now = 30 * sec
	m.Tick()
	m.Key("x", "x")
	m.Key("enter", "")
	if e := f.Take().Rec.Events; len(e) != 1 || e[0].At != 20*sec {
		t.Errorf("events %+v", e)
	}
}

// TestNumbersOfFindings: in a replay a key opens the finding that has its number.
func TestNumbersOfFindings(t *testing.T) {
	rec := sample()
	all := findings()
	all[0].Interval = kasoku.Interval{From: 300 * sec, To: 310 * sec}
	all[1].Interval = kasoku.Interval{From: 5 * sec, To: 310 * sec}
	rec.Diagnosis.Findings = all
	m := NewModel(Replay(rec), nil, Options{})
	m.stay()
	m.Go(100)
	m.Key("1", "1")
	if m.open != 0 {
		t.Error("a finding is reported before its time")
	}
	if t2 := m.look().findings(); len(t2.rows) != 1 || t2.rows[0].values[0] != 2 {
		t.Fatalf("rows %+v", t2.rows)
	}
	m.Key("2", "2")
	if !strings.Contains(m.Screen(), all[1].ID) || strings.Contains(m.Screen(), all[0].ID) {
		t.Errorf("key 2 opens:\n%s", m.Screen())
	}
}

// TestStates: a run that has ended, or that is no longer written, is not live.
func TestStates(t *testing.T) {
	f := &fakeFeed{window: filled(t, time.Hour, 3), now: 3 * sec}
	m := NewModel(f.Take(), f, Options{})
	m.data.Silent = 9 * sec
	if got := m.state(); got != "no data for 9 s, retrying" {
		t.Error(got)
	}
	m.data.Live = false
	if got := m.state(); got != "ended" {
		t.Error(got)
	}
}

// TestPeak: a limit that has no room is left out, not cut.
func TestPeak(t *testing.T) {
	m := meter{v: []float64{378}, unit: "/s", exact: true, most: "of 1,000"}
	if got := m.peak(); got != "max 378 of 1,000" {
		t.Errorf("%q", got)
	}
	m.v, m.most = []float64{53_939}, "of 53,939"
	if got := m.peak(); got != "max 53,939" {
		t.Errorf("%q", got)
	}
}

// TestGrowsInto: what has just begun fills its drawings within the seconds for which there are columns, and later
// looks back over five minutes.
func TestGrowsInto(t *testing.T) {
	f := &fakeFeed{window: filled(t, time.Hour, 400), now: sec}
	m := NewModel(f.Take(), f, Options{})
	for _, tc := range []struct{ now, room, per, long int }{
		{1, 26, 1, 25}, {24, 26, 1, 25}, {25, 26, 2, 50}, {50, 26, 2, 50}, {51, 26, 3, 75}, {299, 26, 12, 300},
		{400, 26, 12, 300}, {10, 300, 1, 299}, {400, 301, 1, 300},
	} {
		f.now = time.Duration(tc.now) * sec
		m.Tick()
		if per, s := m.scale(tc.room); per != tc.per || s.to-s.from+1 != tc.long || s.to != tc.now {
			t.Errorf("after %d s %d columns have %d s each, of %d s up to %d; want %d of %d", tc.now, tc.room, per, s.to-s.from+1, s.to, tc.per, tc.long)
		}
	}
}
