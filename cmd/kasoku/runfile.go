package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/private"
	"github.com/kasoku/kasoku/runstore"
)

// runsDir is where runs are kept when kasoku.toml does not say it.
const runsDir = "runs"

// runDirs are where runs are looked for: the named directory, else runs/ and the
// working one.
func runDirs(dir string) []string {
	if dir != "" {
		return []string{dir}
	}
	return []string{runsDir, "."}
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
	run.ID, path = freeName(dir, runstore.NewID(at, run.Label))
	return path, nil
}

// freeName returns the id and the file of a run that no other has; two may begin
// in the same second.
func freeName(dir, id string) (free, path string) {
	free = id
	for n := 2; ; n++ {
		path = filepath.Join(dir, free+runstore.Extension)
		if _, err := os.Lstat(path); err != nil {
			return free, path
		}
		free = fmt.Sprintf("%s-%d", id, n)
	}
}
