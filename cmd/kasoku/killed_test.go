package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestKilledLeavesNothing: what a recorder that was killed left in the directory for
// temporary files is removed by the next start, and what a living one has there stays.
func TestKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "kasoku-load-*"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	r := startIn(t, dir, "record", "--out", "run.kasoku", "--no-capture", "--", "sleep", "60")
	r.waitFor("a directory for figures", func() bool { return len(left()) == 1 })
	next := func() {
		t.Helper()
		cmd := exec.Command("kasoku", "rules")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	next()
	if len(left()) != 1 {
		t.Fatal("the directory of a living recorder was removed")
	}
	r.kill(false)
	<-r.ended
	next()
	if files := left(); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}
