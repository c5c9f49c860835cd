package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// crash leaves the file of a recorder that was killed after some seconds, as the
// disk would show it: the file, its log and the log's index.
func crash(tb testing.TB, dir string, seconds int) string {
	tb.Helper()
	from := tempRun(tb)
	w, err := create(from, sampleRun(), recorder{}, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Close()
	sim := simulate(30)
	for n := 1; n <= seconds; n++ {
		mustFrames(tb, w, sim.tick(n))
	}
	if err := Save(w, []kasoku.Step{{Number: 1, PerSec: 10}}); err != nil {
		tb.Fatal(err)
	}
	to := filepath.Join(dir, "before"+Extension)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		mustWrite(tb, to+suffix, mustRead(tb, from+suffix))
	}
	return to
}

// ticksOf returns how many ticks every series has.
func ticksOf(tb testing.TB, rec *kasoku.Recording) int {
	tb.Helper()
	n := -1
	for _, s := range rec.Series {
		if n >= 0 && len(s.Points) != n {
			tb.Errorf("%v has %d points, others have %d", s.Key, len(s.Points), n)
		}
		n = len(s.Points)
	}
	return n
}

func TestOpenChangesNothing(t *testing.T) {
	path := tempRun(t)
	record(t, path, 50, 70)
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	before := mustRead(t, path)
	mustOpen(t, path)
	Describe(path)
	if _, err := List(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustRead(t, path), before) {
		t.Error("the file has changed")
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !st.ModTime().Equal(old) {
		t.Errorf("modified at %v, was %v", st.ModTime(), old)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files: %v", got)
	}
}

func TestOpenRecoversCrash(t *testing.T) {
	for _, seconds := range []int{1, 33, 60, 61, 150} {
		path := crash(t, t.TempDir(), seconds)
		rec := mustOpen(t, path)
		if n := ticksOf(t, rec); n != seconds {
			t.Errorf("%d of %d seconds", n, seconds)
		}
		want := fmt.Sprintf("recorder killed; last second %d", seconds)
		if rec.Run.State != kasoku.Incomplete || rec.Run.StopReason != want || rec.Damage != nil {
			t.Errorf("%s, %q, damage %v", rec.Run.State, rec.Run.StopReason, rec.Damage)
		}
		if d := rec.Run.Length - time.Duration(seconds)*time.Second; d < 0 || d > 10*time.Millisecond {
			t.Errorf("length %v of %d s", rec.Run.Length, seconds)
		}
		if len(rec.Steps) != 1 {
			t.Error("steps are lost")
		}
		if got := files(t, filepath.Dir(path)); len(got) != 1 {
			t.Errorf("files left: %v", got)
		}
		before := mustRead(t, path)
		if d := difference(mustOpen(t, path), rec); d != "" {
			t.Errorf("opened again: %s", d)
		}
		if !bytes.Equal(mustRead(t, path), before) {
			t.Error("opening it again changed it")
		}
	}
}

// TestOpenLink opens a crashed run through a symbolic link in another directory.
func TestOpenLink(t *testing.T) {
	path := crash(t, t.TempDir(), 5)
	link := filepath.Join(t.TempDir(), "latest"+Extension)
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if n := ticksOf(t, mustOpen(t, link)); n != 5 {
		t.Errorf("%d of 5 seconds", n)
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(link)} {
		if got := files(t, dir); len(got) != 1 {
			t.Errorf("files left: %v", got)
		}
	}
}

// TestLogFromTheStart checks that the log marks a file from Create on.
func TestLogFromTheStart(t *testing.T) {
	path := tempRun(t)
	mustCreate(t, path)
	if f, err := look(path); err != nil || !f.left {
		t.Errorf("%+v, %v", f, err)
	}
	if rec := mustOpen(t, path); rec.Run.State != kasoku.Running {
		t.Errorf("%+v", rec.Run)
	}
}

// TestOpenAfterFinishWasKilled covers a recorder killed between its last
// transaction and the end of Finish.
func TestOpenAfterFinishWasKilled(t *testing.T) {
	path := crash(t, t.TempDir(), 10)
	execute(t, path, "UPDATE run SET state = 'finished', length_ns = 10000000000")
	rec := mustOpen(t, path)
	if rec.Run.State != kasoku.Finished || rec.Run.StopReason != "" || rec.Run.Length != 10*time.Second {
		t.Errorf("run %+v", rec.Run)
	}
	if n := ticksOf(t, rec); n != 10 {
		t.Errorf("%d of 10 seconds", n)
	}
}

// TestOpenAfterEditWasKilled opens a file of which half a change was written,
// with the journal that undoes it.
func TestOpenAfterEditWasKilled(t *testing.T) {
	from := tempRun(t)
	record(t, from, 700, 3)
	want := mustOpen(t, from)
	db, err := connect(from, editing)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("UPDATE series SET unit = hex(randomblob(1000))"); err != nil { // more than the cache holds
		t.Fatal(err)
	}
	path := tempRun(t)
	for _, suffix := range []string{"", "-journal"} {
		mustWrite(t, path+suffix, mustRead(t, from+suffix))
	}
	if n := len(mustRead(t, path+"-journal")); n < pageBytes {
		t.Fatalf("a journal of %d bytes", n)
	}
	if d := difference(mustOpen(t, path), want); d != "" {
		t.Error(d)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

// TestOpenWithoutLog opens a file that was copied without the log beside it.
func TestOpenWithoutLog(t *testing.T) {
	path := crash(t, t.TempDir(), 10)
	os.Remove(path + "-wal")
	os.Remove(path + "-shm")
	rec := mustOpen(t, path)
	if rec.Run.State != kasoku.Incomplete || rec.Run.Label != "before" || rec.Series != nil {
		t.Errorf("run %+v, %d series", rec.Run, len(rec.Series))
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

func TestOpenWhileRecording(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	sim := simulate(50)
	for n := 1; n <= 130; n++ {
		mustFrames(t, w, sim.tick(n))
		if n%13 != 0 {
			continue
		}
		rec := mustOpen(t, path)
		if got := ticksOf(t, rec); got != n || rec.Run.State != kasoku.Running || rec.Damage != nil {
			t.Fatalf("%d of %d seconds, %s, damage %v", got, n, rec.Run.State, rec.Damage)
		}
		if rec.Run.Length < time.Duration(n)*time.Second {
			t.Errorf("length %v after %d s", rec.Run.Length, n)
		}
		if i := Describe(path); i.Err != nil || i.State != kasoku.Running {
			t.Errorf("%+v", i)
		}
	}
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	if n := ticksOf(t, mustOpen(t, path)); n != 130 {
		t.Errorf("%d of 130 seconds", n)
	}
}

// TestOpenOtherNamespace opens a run whose recorder cannot be seen in /proc; its
// lock is what protects it.
func TestOpenOtherNamespace(t *testing.T) {
	path := tempRun(t)
	w, err := create(path, sampleRun(), recorder{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	sim := simulate(50)
	mustFrames(t, w, sim.tick(1))
	rec := mustOpen(t, path)
	if rec.Run.State != kasoku.Running || ticksOf(t, rec) != 1 {
		t.Errorf("run %+v", rec.Run)
	}
	mustFrames(t, w, sim.tick(2))
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	if rec := mustOpen(t, path); rec.Run.State != kasoku.Finished || ticksOf(t, rec) != 2 {
		t.Errorf("run %+v", rec.Run)
	}
}

// TestFinishWhileRead finishes a run that another process is reading.
func TestFinishWhileRead(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	mustFrames(t, w, simulate(50).tick(1))
	db, err := connect(path, reading)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var ticks int
	if err := tx.QueryRow("SELECT count(*) FROM tail").Scan(&ticks); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(sampleRun()); !errors.Is(err, ErrInUse) || !strings.Contains(hint(err), "before.kasoku-wal") {
		t.Errorf("error %v, hint %q", err, hint(err))
	}
	if rec := mustOpen(t, path); rec.Run.State != kasoku.Finished || ticksOf(t, rec) != 1 {
		t.Errorf("while it is read: run %+v", rec.Run)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	db.Close()
	rec := mustOpen(t, path)
	if rec.Run.State != kasoku.Finished || rec.Damage != nil || ticksOf(t, rec) != 1 {
		t.Errorf("run %+v, damage %v", rec.Run, rec.Damage)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

func TestOpen_Failure(t *testing.T) {
	dir := t.TempDir()
	f := func(path string, want error, wantHint string) {
		t.Helper()
		rec, err := Open(path)
		if rec != nil || !errors.Is(err, want) || !strings.Contains(hint(err), wantHint) {
			t.Errorf("error %v, hint %q", err, hint(err))
		}
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("error %q does not name the file", err)
		}
	}
	f(filepath.Join(dir, "none.kasoku"), ErrNotFound, "kasoku list")
	f(dir, ErrNotRun, "")
	other := filepath.Join(dir, "x.kasoku")
	mustWrite(t, other, nil)
	f(other, ErrNotRun, "")
	mustWrite(t, other, []byte("<html>"))
	f(other, ErrNotRun, "")
	mustWrite(t, other, bytes.Repeat([]byte("log line\n"), 100))
	f(other, ErrNotRun, "")
	mustWrite(t, other+"-wal", []byte("rubbish"))
	f(other, ErrNotRun, "")
	os.Remove(other + "-wal")
	os.Remove(other)
	if err := syscall.Mkfifo(other, 0o600); err != nil {
		t.Fatal(err)
	}
	f(other, ErrNotRun, "")
	os.Remove(other)

	mustWrite(t, other, nil)
	execute(t, other, "CREATE TABLE t (x)")
	f(other, ErrNotRun, "")
	execute(t, other, "PRAGMA journal_mode = WAL")
	f(other, ErrNotRun, "")

	newer := filepath.Join(dir, "newer.kasoku")
	record(t, newer, 10, 1)
	execute(t, newer, "PRAGMA user_version = 99")
	before := mustRead(t, newer)
	f(newer, ErrNewer, "install a newer kasoku")
	if !bytes.Equal(mustRead(t, newer), before) {
		t.Error("a newer file was changed")
	}
	left := crash(t, t.TempDir(), 3)
	execute(t, left, "PRAGMA user_version = 99")
	f(left, ErrNewer, "install a newer kasoku")
}

// A report is what childOpen says of a file.
type report struct {
	State, StopReason, Err string
	Seconds                int
	Damage                 []string
}

// childOpen opens a file as a user without rights.
func childOpen(path string) error {
	const overflowUID = 65534
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(overflowUID), syscall.Setuid(overflowUID)); err != nil {
			return err
		}
	}
	var r report
	rec, err := Open(path)
	if err != nil {
		r.Err = err.Error()
	} else {
		r.State, r.StopReason, r.Damage = string(rec.Run.State), rec.Run.StopReason, rec.Damage
		if len(rec.Series) > 0 {
			r.Seconds = len(rec.Series[0].Points)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// openUnprivileged opens a file in a process that may not write to it.
func openUnprivileged(t *testing.T, path string) (r report) {
	t.Helper()
	out, err := child(t, "open", path).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// readOnlyDir returns a directory that anybody can read, and a function that
// forbids everybody to write to it and its files.
func readOnlyDir(t *testing.T) (dir string, lock func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kasoku-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.Chmod(dir, 0o755)
		os.RemoveAll(dir)
	})
	return dir, func() {
		for _, name := range files(t, dir) {
			if err := os.Chmod(filepath.Join(dir, name), 0o444); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenReadOnly(t *testing.T) {
	dir, lock := readOnlyDir(t)
	path := filepath.Join(dir, "before"+Extension)
	record(t, path, 50, 70)
	lock()
	if r := openUnprivileged(t, path); r.State != "finished" || r.Seconds != 70 || r.Damage != nil {
		t.Errorf("%+v", r)
	}
}

func TestOpenCrashReadOnly(t *testing.T) {
	for _, without := range []string{"", "-shm"} {
		dir, lock := readOnlyDir(t)
		path := crash(t, dir, 65)
		if without != "" {
			os.Remove(path + without)
		}
		lock()
		was := files(t, dir)
		before := append(mustRead(t, path), mustRead(t, path+"-wal")...)
		r := openUnprivileged(t, path)
		if r.State != "incomplete" || r.StopReason != "recorder killed; last second 65" || r.Seconds != 65 || r.Damage != nil {
			t.Errorf("without %q: %+v", without, r)
		}
		if !bytes.Equal(before, append(mustRead(t, path), mustRead(t, path+"-wal")...)) {
			t.Error("the file or its log has changed")
		}
		if d := difference(files(t, dir), was); d != "" {
			t.Error(d)
		}
	}
}

// TestOpenWhileOtherRecords reads a run that another user's recorder is
// writing.
func TestOpenWhileOtherRecords(t *testing.T) {
	dir, lock := readOnlyDir(t)
	path := filepath.Join(dir, "before"+Extension)
	w := mustCreate(t, path)
	sim := simulate(50)
	for n := 1; n <= 62; n++ {
		mustFrames(t, w, sim.tick(n))
	}
	lock()
	if r := openUnprivileged(t, path); r.State != "running" || r.Seconds != 62 || r.Damage != nil {
		t.Errorf("%+v", r)
	}
	os.Chmod(dir, 0o755)
	if err := w.Finish(sampleRun()); err != nil {
		t.Error(err)
	}
}

// TestOpenLeavesNothing checks that neither the readers of this package nor its
// writers leave goroutines, descriptors or temporary files.
func TestOpenLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	path := tempRun(t)
	record(t, path, 50, 70)
	count := func() (descriptors, goroutines int) {
		return len(files(t, "/proc/self/fd")), runtime.NumGoroutine()
	}
	use := func() {
		mustOpen(t, path)
		mustOpen(t, crash(t, t.TempDir(), 3))
		record(t, tempRun(t), 5, 3)
	}
	use()
	d0, g0 := count()
	for range 5 {
		use()
	}
	for wait := 0; ; wait++ { // database/sql ends its goroutine after Close
		d, g := count()
		if d <= d0 && g <= g0 {
			break
		}
		if wait > 1e6 {
			t.Fatalf("descriptors %d, were %d; goroutines %d, were %d", d, d0, g, g0)
		}
		runtime.Gosched()
	}
	if got := files(t, temp); len(got) > 0 {
		for _, name := range got {
			if strings.HasPrefix(name, "kasoku-open-") {
				t.Errorf("left %s", name)
			}
		}
	}
}
