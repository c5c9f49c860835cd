package handover

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// secondsOf are seconds of a load with a request each.
func secondsOf(from, to int) (out []kasoku.LoadSecond) {
	for at := from; at <= to; at++ {
		out = append(out, kasoku.LoadSecond{Second: at, Step: 1, Target: "GET /", Asked: 1, Codes: map[int]uint64{200: 1},
			Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()})
	}
	return out
}

// TestOnlookers: who listens when a load begins gets all of it, who begins later what
// is counted in whole seconds from then on, on its own clock, and who is gone nothing.
func TestOnlookers(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	start := time.Now()
	o := NewOnlookers(start)
	after := time.Duration(0)
	o.now = func() time.Time { return start.Add(after) }
	if o.Look() {
		t.Fatal("no one listens")
	}
	o.Write(Report{Seconds: secondsOf(0, 0)})
	for _, tc := range []struct {
		after time.Duration // that the listener begins, since the load did
		want  []int
	}{
		{10 * time.Millisecond, []int{0, 1, 2, 3, 4, 5}},
		{2400 * time.Millisecond, []int{1, 2, 3}},    // the seconds 3, 4 and 5 of the load
		{30 * time.Second, nil},                      // all that is reported is of before
		{-time.Second, []int{1, 2, 3, 4, 5, 6}},      // it listened before
		{1600 * time.Millisecond, []int{0, 1, 2, 3}}, // in the midst of the second 1
	} {
		path, over, err := Listen()
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLoads(path, start.Add(tc.after))
		if err != nil {
			t.Fatal(err)
		}
		after = max(tc.after, 0)
		if !o.Look() {
			t.Fatal("no one is seen")
		}
		o.Write(Report{Seconds: secondsOf(0, 5), Steps: []kasoku.Step{{Number: 1, Interval: kasoku.Interval{To: time.Minute}}}})
		got, err := l.Take()
		if err != nil {
			t.Fatal(err)
		}
		var seconds []int
		for _, s := range got {
			seconds = append(seconds, s.Second)
		}
		if !slices.Equal(seconds, tc.want) {
			t.Errorf("listens %s after the load began: seconds %v, want %v", tc.after, seconds, tc.want)
		}
		if steps := l.Steps(); len(steps) != 1 || (steps[0].Interval.From+tc.after).Abs() > 5*time.Millisecond {
			t.Errorf("steps %+v", steps)
		}
		if err := over(); err != nil {
			t.Fatal(err)
		}
		if o.Look() || len(o.hands) != 0 {
			t.Error("who is gone is still reported")
		}
		o.Write(Report{Seconds: secondsOf(0, 5)})
		if _, err := os.Stat(path); err == nil {
			t.Error("the file of who is gone is there again")
		}
	}
}

// TestRecordings: a run is found while it is recorded, whatever the words of its command are, and
// says neither paths nor passwords.
func TestRecordings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "build[1]") // no pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	t.Chdir(t.TempDir())
	over := Announce("x.kasoku", []string{"http://127.0.0.1:80", "http://u:secret@shop.test/a\t?token=secret", "unix:/run/a.sock b",
		"http://u:secret@shop.test:81/?token=secret", "http://a.test/\nb"})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := Recordings(""); !reflect.DeepEqual(got, []Ongoing{{Path: filepath.Join(here, "x.kasoku"), Project: here,
		Places: []string{"127.0.0.1:80", "unix:/run/a.sock", "shop.test:81"}}}) {
		t.Errorf("recordings %q", got)
	}
	over()
	if got := Recordings(""); len(got) != 0 {
		t.Errorf("after its end: %q", got)
	}
}

// TestSweepMeetings: what a killed recorder left goes, though another process has its
// number now; what is held stays.
func TestSweepMeetings(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path, over, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(meetDir(), fmt.Sprintf("%s%d%s", recordingPrefix, os.Getpid(), recordingSuffix))
	if err := os.WriteFile(left, []byte("x.kasoku"), 0o600); err != nil {
		t.Fatal(err)
	}
	SweepMeetings()
	if _, err := os.Stat(left); err == nil {
		t.Error("what was left is still there")
	}
	if got := Listeners(); !slices.Equal(got, []string{path}) {
		t.Errorf("listeners %q, want %q", got, path)
	}
	if err := over(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(meetDir()); err == nil {
		t.Error("the directory is left")
	}
}

// TestListeners: who listens is found, who is gone is not, and a directory that
// others may enter is not used.
func TestListeners(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if got := Listeners(); len(got) != 0 {
		t.Fatalf("no one listens: %v", got)
	}
	path, over, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(filepath.Dir(path), listenerPrefix+"999999999"+listenerSuffix)
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Listeners(); !slices.Equal(got, []string{path}) {
		t.Errorf("listeners %v, want %s alone", got, path)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the file of a process that is gone is still there")
	}
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Listen(); err == nil || !strings.Contains(err.Error(), "this user alone") {
		t.Errorf("a directory that others may read: %v", err)
	}
	if err := over(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the directory is still there, though no one listens")
	}
}
