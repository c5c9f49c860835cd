package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/store"
)

// runsDir is where runs are kept when kasoku.toml does not say it.
const runsDir = "runs"

// runDirs are where runs are looked for: the named directory, else the one that
// kasoku.toml names, runs/ and the working one. A kasoku.toml that is not to be read
// moves nothing: who makes runs says what is wrong with it.
func runDirs(dir string) []string {
	if dir != "" {
		return []string{dir}
	}
	dirs := []string{runsDir, "."}
	if c, err := readConfig(""); err == nil && c != nil && !slices.ContainsFunc(dirs, func(d string) bool { return sameDir(d, c.Runs) }) {
		dirs = append([]string{c.Runs}, dirs...)
	}
	return dirs
}

// sameDir reports whether two names are of one directory, there or not.
func sameDir(a, b string) bool {
	inA, errA := os.Stat(a)
	inB, errB := os.Stat(b)
	return absolutePath(a) == absolutePath(b) || errA == nil && errB == nil && os.SameFile(inA, inB)
}

// absolutePath is the path from the root; the path itself where the working directory
// is gone.
func absolutePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// placeRun returns the file of a new run, which is not there yet: the one that was
// named, else one in dir, whose name is the run's id.
func placeRun(run *kasoku.Run, named, dir string, at time.Time) (path string, err error) {
	if named != "" {
		if _, err := os.Lstat(named); err == nil {
			return "", usagef("choose another name, or remove it", "run file %q exists", named)
		}
		return named, nil
	}
	if err := private.Output.MkdirAll(dir); err != nil {
		return "", err
	}
	run.ID, path = freeName(dir, store.NewID(at, run.Label))
	return path, nil
}

// freeName returns the id and the file of a run that no other has; two may begin
// in the same second.
func freeName(dir, id string) (free, path string) {
	free = id
	for n := 2; ; n++ {
		path = filepath.Join(dir, free+store.Extension)
		if _, err := os.Lstat(path); err != nil {
			return free, path
		}
		free = fmt.Sprintf("%s-%d", id, n)
	}
}
