package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/prepared"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// mostUnchanged is how many unchanged runs are read for the noise floor.
const mostUnchanged = 10

// UnchangedRuns returns repeated runs of one thing, of the project and load of the
// runs compared: the group of one of them, else the newest group, else runs that
// were made of the same thing one by one. It is empty when there are too few; runs
// that cannot be read are left out.
func UnchangedRuns(dirs []string, before, after *kasoku.Recording) []*kasoku.Recording {
	var like []store.Info
	for _, d := range dirs {
		runs, err := store.List(d)
		if err != nil {
			continue // nothing is known of it, so there is no floor from there
		}
		for _, r := range runs {
			same := r.Project == before.Run.Project && r.Load == before.Run.Load && r.Observers == before.Run.Observers
			if r.Err == nil && r.State == kasoku.Finished && same {
				like = append(like, r)
			}
		}
	}
	groups := []string{before.Run.Group, after.Run.Group}
	for _, r := range like {
		groups = append(groups, r.Group)
	}
	tried := map[string]bool{"": true}
	for _, g := range groups {
		if tried[g] {
			continue
		}
		tried[g] = true
		if runs := runsAlike(like, nil, func(r store.Info) bool { return r.Group == g }); len(runs) >= compare.LeastUnchanged {
			return runs
		}
	}
	for _, side := range []*kasoku.Recording{before, after} {
		runs := runsAlike(like, side, func(r store.Info) bool { return r.Revision == side.Run.Revision && !r.Dirty })
		if len(runs) >= compare.LeastUnchanged {
			return runs
		}
	}
	return nil
}

// runsAlike reads the runs that are wanted and made of the same thing as one of them:
// the given one, else the first.
func runsAlike(infos []store.Info, as *kasoku.Recording, want func(store.Info) bool) []*kasoku.Recording {
	var out []*kasoku.Recording
	for _, r := range infos {
		if !want(r) || len(out) >= mostUnchanged {
			continue
		}
		rec, err := store.Open(r.Path)
		if err != nil {
			continue
		}
		if as == nil {
			as = rec
		}
		if compare.Alike(as, rec) {
			if rec.Summary == nil {
				rec.Summary = diagnose.Summarise(rec)
			}
			out = append(out, rec)
		}
	}
	slices.Reverse(out)
	return out
}

// RunsDir is where runs are kept when kasoku.toml does not say it.
const RunsDir = "runs"

// RunDirs are where runs are looked for: the named directory, else the one that
// kasoku.toml names, runs/ and the working one. A kasoku.toml that is not to be read
// moves nothing: who makes runs says what is wrong with it.
func RunDirs(dir string) []string {
	if dir != "" {
		return []string{dir}
	}
	dirs := []string{RunsDir, "."}
	if c, err := ReadConfig(""); err == nil && c != nil && !slices.ContainsFunc(dirs, func(d string) bool { return sameDir(d, c.Runs) }) {
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

// PlaceRun returns the file of a new run, which is not there yet: the one that was
// named, else one in dir, whose name is the run's id. The id of a run without a label, whose
// file was named, has that name for one: two may begin in the same second.
func PlaceRun(run *kasoku.Run, named, dir string, at time.Time) (path string, err error) {
	if named != "" {
		if _, err := os.Lstat(named); err == nil {
			return "", Usagef("choose another name, or remove it", "run file %q exists", named)
		}
		if run.ID == "" && run.Label == "" {
			run.ID = kasoku.NewRunID(at, strings.TrimSuffix(filepath.Base(named), store.Extension))
		}
		return named, nil
	}
	if err := private.Output.MkdirAll(dir); err != nil {
		return "", err
	}
	run.ID, path = freeName(dir, kasoku.NewRunID(at, run.Label))
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

// OpenRun resolves a name and reads the run. Damage is a warning, not an end, but
// [Env.Finish] returns 3 for it.
func OpenRun(e *Env, dir, name string) (*kasoku.Recording, string, error) {
	path, err := FindRun(dir, name)
	if err != nil {
		return nil, "", err
	}
	rec, err := e.OpenPath(path)
	if err != nil {
		return nil, "", err
	}
	return rec, path, nil
}

// OpenPath reads the run file at a path. Damage is as [OpenRun] has it.
func (e *Env) OpenPath(path string) (*kasoku.Recording, error) {
	rec, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if len(rec.Damage) > 0 {
		e.damaged = append(e.damaged, terminal.Clean(path))
	}
	for _, d := range rec.Damage {
		e.Caution(path+": "+d, "")
	}
	return rec, nil
}

// CheckDir refuses a directory of run files that was named and is not there.
func CheckDir(dir string) error {
	if dir != "" && IsMissing(dir) {
		return Usagef("`kasoku list` without a directory looks where runs are kept", "%q: no such directory", dir)
	}
	return nil
}

// OpenNamed reads the run that the arguments name, the latest when they do not.
func OpenNamed(e *Env, dir string, args []string) (*kasoku.Recording, string, error) {
	name := store.Latest
	if len(args) > 0 {
		name = args[0]
	}
	return OpenRun(e, dir, name)
}

// FindRun looks in the directories of [RunDirs]. The latest run is the newest of all.
func FindRun(dir, name string) (string, error) {
	if err := CheckDir(dir); err != nil {
		return "", err
	}
	var found string
	var missing error
	for _, d := range RunDirs(dir) {
		path, err := store.Resolve(d, name)
		switch {
		case err == nil && name != store.Latest:
			return path, nil
		case err == nil:
			if found == "" || store.Describe(path).Started.After(store.Describe(found).Started) {
				found = path
			}
		case !errors.Is(err, store.ErrNotFound):
			return "", err
		case missing == nil || rankMissing(err) > rankMissing(missing):
			missing = err
		}
	}
	if found != "" {
		return found, nil
	}
	return "", Usage(missing, HintOf(missing))
}

// rankMissing ranks what a directory says of a name that it has not: one that knows a
// like name before one that has runs at all.
func rankMissing(err error) int {
	hint := HintOf(err)
	switch {
	case strings.HasPrefix(hint, "did you mean"):
		return 2
	case strings.HasPrefix(hint, "there are no runs"):
		return 0
	}
	return 1
}

// Rediagnose lets today's rules look at the recording.
func Rediagnose(rec *kasoku.Recording, baseline *kasoku.Recording) {
	RediagnoseCase(rec, diagnose.NewCase(rec, baseline))
}

// Complete adds to a recording what comparisons look at.
func Complete(rec *kasoku.Recording) {
	if rec.Diagnosis == nil {
		Rediagnose(rec, nil)
	}
	now := diagnose.Summarise(rec)
	if rec.Summary == nil {
		rec.Summary = now
	}
	if rec.Service.Known() && now.LoadTime > 0 { // an older kasoku counted the CPU of neighbours too
		summary := *rec.Summary
		summary.CPU, summary.LoadTime = now.CPU, now.LoadTime
		rec.Summary = &summary
	}
}

// RediagnoseCase is Rediagnose of a case of the recording. What the server answered to the SQL of
// findings when it was recorded stays.
func RediagnoseCase(rec *kasoku.Recording, c *diagnose.Case) {
	before := rec.Diagnosis
	rec.Diagnosis = diagnose.Diagnose(c, rules.All())
	prepared.Keep(before, rec.Diagnosis)
}
