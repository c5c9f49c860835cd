package runstore

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// An Info is what a list of runs tells of one.
type Info struct {
	Path       string
	ID         string
	Project    string
	Label      string
	Note       string
	State      kasoku.RunState
	StopReason string
	Started    time.Time
	Length     time.Duration // 0 while it is not known
	Load       string
	Verdict    string
	Revision   string
	Dirty      bool
	Group      string
	Repeat     int
	Observers  string
	Price      kasoku.Price
	Score      *kasoku.Score   // nil when nobody said one
	Summary    *kasoku.Summary // nil when nobody looked
	SizeBytes  int64           // of the file, with the log that lies beside it
	Err        error           // why nothing is known of it; all above but Path, ID and SizeBytes is empty then
}

// List returns the runs of a directory, the newest first; files that cannot be
// read come last, with their error. It reads only the description of each run
// and recovers nothing. A directory that does not exist holds no runs.
func List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, stepError("list runs", dir, err)
	}
	var out []Info
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == Extension {
			out = append(out, Describe(filepath.Join(dir, e.Name())))
		}
	}
	slices.SortStableFunc(out, func(a, b Info) int {
		return cmp.Or(compareBool(a.Err != nil, b.Err != nil), b.Started.Compare(a.Started), strings.Compare(b.ID, a.ID))
	})
	return out, nil
}

func compareBool(a, b bool) int { return int(asInt(a) - asInt(b)) }

// Describe reads only the description of one run. It never writes.
func Describe(path string) Info {
	info := Info{Path: path, ID: fileID(path)}
	for _, suffix := range []string{"", "-wal"} {
		if st, err := os.Stat(path + suffix); err == nil {
			info.SizeBytes += st.Size()
		}
	}
	s, err := currentSchema()
	var run *runRow
	if err == nil {
		run, err = opener{s}.describe(path)
	}
	if err != nil {
		info.Err = stepError("read run file", path, err)
		return info
	}
	info.ID, info.Project, info.Label, info.Note = run.ID, run.Project, run.Label, run.Note
	info.State, info.StopReason, info.Started, info.Length = run.State, run.StopReason, run.Started, run.Length
	info.Load, info.Verdict = run.Load, run.verdict
	info.Revision, info.Dirty = run.Revision, run.Dirty
	info.Group, info.Repeat, info.Observers, info.Price = run.Group, run.Repeat, run.Observers, run.Price
	info.Score, info.Summary = run.Score, run.summary
	return info
}

// describe reads the run's row. Of a file with a log it reads the file alone,
// which holds that row as it was at the start: with the log SQLite would leave
// traces beside the file.
func (o opener) describe(path string) (run *runRow, err error) {
	path = target(path)
	f, err := look(path)
	if err != nil {
		return nil, err
	}
	m := reading
	if f.left {
		m = immutable
	}
	run, err = o.describeWith(path, m)
	switch {
	case isDamage(err):
		run, err = o.describeWith(path, salvaging)
	case errors.Is(err, errOlder):
		err = inCopy(path, func(to string) error {
			if err := o.repair(to); err != nil {
				return err
			}
			run, err = o.describeWith(to, reading)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if run.State == kasoku.Running && !run.recorder.alive() {
		run.State = kasoku.Incomplete
		run.StopReason = "recorder killed"
	}
	return run, nil
}

// errOlder says that a file must be migrated before it can be read.
var errOlder = errors.New("of an older version")

func (o opener) describeWith(path string, m mode) (run *runRow, err error) {
	db, err := connect(path, m)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = inView(db, func(tx *sql.Tx) error {
		v, err := o.schema.check(tx)
		if err != nil {
			return err
		}
		if v < o.schema.version() {
			return errOlder
		}
		rd := &reader{db: tx}
		if run = one(runTable().read(rd)); run == nil {
			return fmt.Errorf("%w: %s", errDamaged, strings.Join(append(rd.damage, "it has no description"), "; "))
		}
		run.Score, run.summary = one(scoreTable().read(rd)), one(summaryTable().read(rd))
		return nil
	})
	return run, err
}
