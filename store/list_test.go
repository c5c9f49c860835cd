package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// runs makes a directory of runs, one an hour.
func runs(tb testing.TB, labels ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	for i, label := range labels {
		run := sampleRun()
		run.Started = start().Add(time.Duration(i) * time.Hour)
		run.Label = label
		run.ID = kasoku.NewRunID(run.Started, label)
		run.State, run.Length = kasoku.Finished, 42*time.Second
		rec := &kasoku.Recording{Run: run, Diagnosis: &kasoku.Diagnosis{Verdict: "At 1,000 req/s " + label + " breaks."}}
		if err := Write(filepath.Join(dir, fmt.Sprintf("run%d%s", i, Extension)), rec); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func TestList(t *testing.T) {
	dir := runs(t, "before", "after")
	mustWrite(t, filepath.Join(dir, "broken.kasoku"), []byte("SQLite format 3, or so"))
	mustWrite(t, filepath.Join(dir, "report.html"), []byte("<html>"))
	if err := os.Mkdir(filepath.Join(dir, "dir.kasoku"), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Rename(crash(t, t.TempDir(), 3), filepath.Join(dir, "killed.kasoku"))
	was := files(t, dir)

	list, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, filepath.Base(r.Path)+" "+string(r.State))
	}
	want := []string{"run1.kasoku finished", "run0.kasoku finished", "killed.kasoku incomplete", "broken.kasoku "}
	slices.Sort(got[1:3]) // these two started at the same time
	slices.Sort(want[1:3])
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r := list[0]
	if r.Label != "after" || r.Length != 42*time.Second || r.Verdict != "At 1,000 req/s after breaks." || r.SizeBytes < 10_000 ||
		r.Load != "POST /users, open loop" || r.ID != "20261120-060211-after" || !r.Started.Equal(start().Add(time.Hour)) {
		t.Errorf("%+v", r)
	}
	if r := list[3]; !errors.Is(r.Err, ErrNotRun) || r.ID != "broken" || r.SizeBytes != 22 {
		t.Errorf("%+v", r)
	}
	if d := difference(files(t, dir), was); d != "" {
		t.Errorf("files: %s", d)
	}
}

func TestListNothing(t *testing.T) {
	for _, dir := range []string{t.TempDir(), "/nonexistent/runs"} {
		if list, err := List(dir); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	mustWrite(t, file, nil)
	if _, err := List(file); err == nil {
		t.Error("a file was listed as a directory")
	}
}

func TestResolve_Success(t *testing.T) {
	dir := runs(t, "before", "after", "before")
	f := func(name, want string) {
		t.Helper()
		got, err := Resolve(dir, name)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%q is %q, %v; want %q", name, got, err, want)
		}
	}
	f("latest", "run2.kasoku")
	f("before", "run2.kasoku")
	f("after", "run1.kasoku")
	f("run0", "run0.kasoku")
	f("run0.kasoku", "run0.kasoku")
	f(filepath.Join(dir, "run0.kasoku"), "run0.kasoku")
	f(filepath.Join(dir, "run0"), "run0.kasoku")
	f("20261120-050211-before", "run0.kasoku")
	f("20261120-05", "run0.kasoku")
	f("20261120-060211", "run1.kasoku")

	// The newest run is no use as the latest when it was not finished.
	os.Rename(crash(t, t.TempDir(), 1), filepath.Join(dir, "now.kasoku"))
	f("latest", "run2.kasoku")
	f("now", "now.kasoku")

	t.Chdir(dir)
	if got, err := Resolve("elsewhere", "run0.kasoku"); err != nil || got != "run0.kasoku" {
		t.Errorf("a path of the working directory: %q, %v", got, err)
	}
}

func TestResolve_Failure(t *testing.T) {
	dir := runs(t, "before", "after")
	f := func(dir, name, message, wantHint string) {
		t.Helper()
		got, err := Resolve(dir, name)
		if got != "" || !errors.Is(err, ErrNotFound) || err.Error() != message || hint(err) != wantHint {
			t.Errorf("%q: %v, hint %q", name, err, hint(err))
		}
	}
	f(dir, "befor", `no run "befor"`, "did you mean \"before\" (20 Nov 2026, 14:02)? `kasoku list` has all")
	f(dir, "Aftre", `no run "Aftre"`, "did you mean \"after\" (20 Nov 2026, 15:02)? `kasoku list` has all")
	f(dir, "lastest", `no run "lastest"`, "did you mean \"latest\"? `kasoku list` has all")
	f(dir, "quite-other", `no run "quite-other"`, "`kasoku list` has all")
	f(dir, "", `no run ""`, "`kasoku list` has all")
	f(dir, "2026", `"2026" begins the id of 2 runs`,
		"did you mean \"20261120-060211-after\" or \"20261120-050211-before\"? `kasoku list` has all")
	empty := t.TempDir()
	f(empty, "before", `no run "before"`, "there are no runs in "+empty+"; `kasoku record -- COMMAND` makes one, `kasoku demo` shows how")
	f(empty, "latest", "no finished run", "`kasoku record -- COMMAND` makes one, `kasoku demo` shows how")
	os.Rename(crash(t, t.TempDir(), 1), filepath.Join(empty, "now.kasoku"))
	f(empty, "latest", "no finished run", `"20261120-050211-before" was not finished; name it to see it all the same`)
}

// TestDescribeOlder: the file of an older version is described as it is, with what
// it has.
func TestDescribeOlder(t *testing.T) {
	for v := int64(1); v <= current(t).version(); v++ {
		path := tempRun(t)
		mustWrite(t, path, unzip(t, mustRead(t, fmt.Sprintf("testdata/run-v%d.kasoku.gz", v))))
		was := mustRead(t, path)
		got, want := Describe(path), sampleOfVersion(v)
		if got.Err != nil || got.ID != want.Run.ID || got.Note != want.Run.Note || got.Group != want.Run.Group ||
			got.Price != want.Run.Price || !reflect.DeepEqual(got.Score, want.Run.Score) || !reflect.DeepEqual(got.Summary, want.Summary) {
			t.Errorf("version %d: %+v", v, got)
		}
		if !bytes.Equal(mustRead(t, path), was) || len(files(t, filepath.Dir(path))) != 1 {
			t.Errorf("version %d: the file or its directory was changed", v)
		}
	}
}

// TestLatestIsNoCheckpoint: a checkpoint measured nothing.
func TestLatestIsNoCheckpoint(t *testing.T) {
	dir := runs(t, "before", "after")
	run := sampleRun()
	run.ID, run.Label, run.State, run.Load = "20261120-090000-safe", "safe", kasoku.Finished, Checkpoint
	run.Started = start().Add(9 * time.Hour)
	if err := Write(filepath.Join(dir, "safe.kasoku"), &kasoku.Recording{Run: run}); err != nil {
		t.Fatal(err)
	}
	if got, err := Resolve(dir, Latest); err != nil || filepath.Base(got) != "run1.kasoku" {
		t.Errorf("latest is %q, %v", got, err)
	}
	if got, err := Resolve(dir, "safe"); err != nil || filepath.Base(got) != "safe.kasoku" {
		t.Errorf("safe is %q, %v", got, err)
	}
}

func TestConditions(t *testing.T) {
	path := tempRun(t)
	if err := Write(path, sampleRecording()); err != nil {
		t.Fatal(err)
	}
	want := mustOpen(t, path)
	got, err := Conditions(path)
	if err != nil {
		t.Fatal(err)
	}
	all := kasoku.Recording{Run: want.Run, Settings: want.Settings, Configs: want.Configs, Changes: want.Changes}
	if d := difference(got, &all); d != "" || len(got.Configs) == 0 {
		t.Error(d)
	}
	for v := int64(1); v < current(t).version(); v++ {
		mustWrite(t, path, unzip(t, mustRead(t, fmt.Sprintf("testdata/run-v%d.kasoku.gz", v))))
		if got, err := Conditions(path); err != nil || len(got.Settings) != len(want.Settings) {
			t.Errorf("version %d: %v", v, err)
		}
	}
	if _, err := Conditions(path + "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

// TestListExit: a list knows how the command ended.
func TestListExit(t *testing.T) {
	f := func(c *kasoku.Command, want int) {
		t.Helper()
		run := sampleRun()
		run.Command, run.State = c, kasoku.Finished
		path := filepath.Join(t.TempDir(), "a"+Extension)
		if err := Write(path, &kasoku.Recording{Run: run}); err != nil {
			t.Fatal(err)
		}
		if i := Describe(path); i.Exit != want || i.Err != nil {
			t.Errorf("exit %d, want %d: %v", i.Exit, want, i.Err)
		}
	}
	f(&kasoku.Command{Args: []string{"./bench.sh"}, ExitCode: 7}, 7)
	f(&kasoku.Command{Args: []string{"./bench.sh"}, ExitCode: -1, Signal: "killed"}, -1)
	f(&kasoku.Command{Args: []string{"./bench.sh"}}, 0)
	f(nil, 0)
}
