package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
)

// An Info is what a list of runs says about one.
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
	Base       string // id of the run that it is a try upon; empty: the one before it
	Observers  string
	Price      kasoku.Price
	Score      *kasoku.Score   // nil when none was given
	Summary    *kasoku.Summary // nil when none was made
	Exit       int             // exit code of the command, -1 when a signal killed it; 0 without one
	Hosts      []string        // that were measured
	Targets    []string        // of a load of kasoku's own
	Steps      []kasoku.Step   // likewise
	Entries    []string        // listeners that the load was seen at: 127.0.0.1:8080; empty when that is not known
	SizeBytes  int64           // of the file, with the log that lies beside it
	Err        error           // why nothing is known of it; all above but Path, ID and SizeBytes is empty then
}

// Checkpoint is the Load of a run that keeps a configuration and measured nothing.
const Checkpoint = "checkpoint"

// Checkpoint reports whether the run keeps a configuration and measured nothing.
func (i Info) Checkpoint() bool { return i.Load == Checkpoint }

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
	var paths []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == Extension {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	out := DescribeAll(paths)
	slices.SortStableFunc(out, func(a, b Info) int {
		return cmp.Or(compareBool(a.Err != nil, b.Err != nil), b.Started.Compare(a.Started),
			strings.Compare(b.ID, a.ID))
	})
	return out, nil
}

// DescribeAll describes files on all cores: opening a database takes a millisecond,
// nearly all of it CPU.
func DescribeAll(paths []string) []Info {
	out := make([]Info, len(paths))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		workers.Go(func() {
			for i := range next {
				out[i] = describeContained(paths[i])
			}
		})
	}
	for i := range paths {
		next <- i
	}
	close(next)
	workers.Wait()
	return out
}

// describeContained is [Describe] of a file that may make it panic.
func describeContained(path string) (info Info) {
	if err := contain.Run(contain.Part{Kind: contain.Step, Name: "description of a run"},
		func() { info = Describe(path) }); err != nil {
		return Info{Path: path, ID: fileID(path), Err: err}
	}
	return info
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
	info.Base = run.Base
	info.Score, info.Summary = run.Score, run.summary
	if run.Command != nil {
		info.Exit = run.Command.ExitCode
	}
	for _, h := range run.Hosts {
		info.Hosts = append(info.Hosts, h.Name)
	}
	info.Targets, info.Steps, info.Entries = run.targets, run.steps, run.entries
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
	if isDamage(err) {
		run, err = o.describeWith(path, salvaging)
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

func (o opener) describeWith(path string, m mode) (run *runRow, err error) {
	db, err := connect(path, m)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = inView(db, func(tx *sql.Tx) error {
		v, err := o.schema.check(tx, m)
		if err != nil {
			return err
		}
		rd := &reader{db: tx}
		older := v < o.schema.version()
		if run = described(rd, runTable(), older); run == nil {
			return fmt.Errorf("%w: %s", errDamaged, strings.Join(append(rd.damage, "it has no description"), "; "))
		}
		run.Score, run.summary = described(rd, scoreTable(), older), described(rd, summaryTable(), older)
		run.Command = described(rd, commandTable(), older)
		rd.describeLoad(run, older)
		if math.IsNaN(run.Price.PerHour) { // of a file that does not know prices
			run.Price.PerHour = 0
		}
		return nil
	})
	return run, err
}

// describeLoad reads what a run's load was asked for, and where it went.
func (rd *reader) describeLoad(run *runRow, older bool) {
	for _, h := range describedRows(rd, hostTable(), older) {
		run.Hosts = append(run.Hosts, h.v)
	}
	for _, s := range describedRows(rd, stepTable(), older) {
		run.steps = append(run.steps, s.v)
	}
	if l := described(rd, loadTable(), older); l != nil {
		run.targets = l.Targets
	}
	for _, e := range describedRows(rd, memberEdgeTable(), older) {
		if e.v.From == "" && !e.v.Weak {
			run.entries = append(run.entries, e.v.At.Address)
		}
	}
}

// described reads the one row of a table.
func described[T any](rd *reader, t table[T], older bool) *T {
	return one(describedRows(rd, t, older))
}

// describedRows reads a table. A file of an older version is read as it is: bringing it up
// to date would copy all of it. What its tables lack is NULL, so a migration that does
// more to them than add columns must be handled here.
func describedRows[T any](rd *reader, t table[T], older bool) []kept[T] {
	if older {
		have, err := columnsOf(rd.db, t.name)
		if err != nil || len(have) == 0 {
			return nil
		}
		t.columns = slices.Clone(t.columns)
		for i, name := range t.columns {
			if !slices.Contains(have, name) {
				t.columns[i] = "NULL"
			}
		}
	}
	return t.read(rd)
}
