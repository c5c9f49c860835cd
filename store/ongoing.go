package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// Ongoing reads how far a run is that is being recorded: its description, its steps, and
// the seconds of its load with the number from and later. The rest of the recording is
// empty. It is for callers that poll, for whom [Open] would read all series each time. A
// file into which nothing is recorded is an error.
func Ongoing(path string, from int) (*kasoku.Recording, error) {
	by, err := recorderOf(target(path))
	if err == nil && !by.alive() {
		err = fmt.Errorf("%w: no one records into it", ErrClosed)
	}
	if err != nil {
		return nil, stepError("open run file", path, err)
	}
	return Load(path, from)
}

// Load reads the same of any run. When [Ongoing] fails because the run has ended, a
// poller reads its last seconds with Load.
func Load(path string, from int) (*kasoku.Recording, error) {
	var rec *kasoku.Recording
	s, err := currentSchema()
	if err == nil {
		rec, err = opener{s}.ongoing(target(path), from)
	}
	return rec, stepError("open run file", path, err)
}

func (o opener) ongoing(path string, from int) (*kasoku.Recording, error) {
	db, err := connect(path, reading)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rec := &kasoku.Recording{}
	err = inView(db, func(tx *sql.Tx) error {
		if _, err := o.schema.check(tx, reading); err != nil {
			return err
		}
		rd, err := newReader(tx)
		if err != nil {
			return err
		}
		defer rd.close()
		rec.Run, rec.Steps = rd.run(path).Run, values(stepTable().read(rd))
		rec.Seconds, err = rd.secondsFrom(from)
		return err
	})
	return rec, err
}

// secondsFrom reads the seconds of the load from one on.
func (rd *reader) secondsFrom(from int) (out []kasoku.LoadSecond, err error) {
	t := secondTable()
	err = rd.rows("SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name+" WHERE second >= ?", len(t.columns),
		func(r *row) error {
			var v secondRow
			if t.get(r, &v); r.err == nil {
				out = append(out, v.LoadSecond)
			}
			return nil
		}, from)
	slices.SortStableFunc(out, func(a, b kasoku.LoadSecond) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.Step, b.Step), strings.Compare(a.Target, b.Target))
	})
	return out, t.named(err)
}
