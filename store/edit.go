package store

import (
	"database/sql"

	"github.com/kasoku/kasoku"
)

// An Editor changes what people may change of a run that is over. Each change is
// one transaction; the samples are never touched. It is safe for concurrent use.
type Editor struct {
	path string
	db   *sql.DB
}

// Edit opens a run file for changes. A run that is being recorded is refused
// with [ErrBusy]; one whose recorder was killed is recovered first. A file of an
// older version is brought up to date.
func Edit(path string) (*Editor, error) {
	s, err := currentSchema()
	if err != nil {
		return nil, stepError("edit run file", path, err)
	}
	db, err := opener{s}.edit(path)
	if err != nil {
		return nil, stepError("edit run file", path, err)
	}
	return &Editor{path, db}, nil
}

func (o opener) edit(path string) (*sql.DB, error) {
	path = target(path)
	if err := o.settle(path); err != nil {
		return nil, err
	}
	db, err := connect(path, editing)
	if err != nil {
		return nil, err
	}
	_, err = o.schema.check(db, editing)
	if err == nil {
		err = o.schema.upgrade(db)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// SetLabel changes the run's label. Its id and the file's name stay.
func (e *Editor) SetLabel(label string) error {
	return e.change("set label", func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE run SET label = ?", label)
		return err
	})
}

// SetNote changes the run's note.
func (e *Editor) SetNote(note string) error {
	return e.change("set note", func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE run SET note = ?", note)
		return err
	})
}

// SetScore replaces what a benchmark said of the run; nil removes it.
func (e *Editor) SetScore(s *kasoku.Score) error {
	return e.change("set score", func(tx *sql.Tx) error { return scoreTable().replaceOne(tx, s) })
}

// SaveSummary replaces what a list of runs says about this one; nil removes it.
func (e *Editor) SaveSummary(s *kasoku.Summary) error {
	return e.change("save summary", func(tx *sql.Tx) error { return summaryTable().replaceOne(tx, s) })
}

// SaveChanges replaces what the recording altered on servers.
func (e *Editor) SaveChanges(c []kasoku.Change) error {
	return e.change("save change", func(tx *sql.Tx) error { return changeTable().replace(tx, c) })
}

// SaveDiagnosis replaces the stored diagnosis and the run's verdict; nil removes both.
func (e *Editor) SaveDiagnosis(d *kasoku.Diagnosis) error {
	return e.change("save diagnosis", func(tx *sql.Tx) error { return saveDiagnosis(tx, d) })
}

// SaveWarnings replaces the warnings.
func (e *Editor) SaveWarnings(w []kasoku.Warning) error {
	return e.change("save warning", func(tx *sql.Tx) error { return warningTable().replace(tx, w) })
}

// SavePlans replaces the plans and the tables that they read.
func (e *Editor) SavePlans(plans []kasoku.Plan, tables []kasoku.TableDef) error {
	return e.change("save plans", func(tx *sql.Tx) error {
		if err := savePlans(tx, plans); err != nil {
			return err
		}
		return tableDefTable().replace(tx, tables)
	})
}

// SaveAdvice replaces what the checks of a server's settings say.
func (e *Editor) SaveAdvice(a []kasoku.Advice) error {
	return e.change("save advice", func(tx *sql.Tx) error { return adviceTable().replace(tx, a) })
}

// change makes a change and renews the checksums of the tables that an editor
// may touch. Those of all others stay: they still say what was recorded.
func (e *Editor) change(op string, do func(tx *sql.Tx) error) error {
	err := inTx(e.db, func(tx *sql.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		return renewSums(tx, editable())
	})
	return stepError(op, e.path, err)
}

func editable() []summed {
	return []summed{of(runTable()), of(scoreTable()), of(summaryTable()), of(changeTable()), of(warningTable()),
		of(diagnosisTable()), of(findingTable()),
		of(evidenceTable()), of(quoteTable()), of(silenceTable()), of(planTable()), of(planStepTable()),
		of(rawPlanTable()), of(tableDefTable()), of(adviceTable())}
}

// Close closes the file.
func (e *Editor) Close() error { return stepError("close run file", e.path, e.db.Close()) }
