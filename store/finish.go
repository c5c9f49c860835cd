package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store/chunk"
)

// Finish stores the run's final description, folds what is left of the tail,
// leaves checksums, and makes the run one plain file. A state of Running becomes
// Finished. The writer is closed, also when Finish fails; then the file can
// still be opened and holds what was written.
func (w *Writer) Finish(run kasoku.Run) error {
	if run.State == kasoku.Running || run.State == "" {
		run.State = kasoku.Finished
	}
	err := w.write("finish run file", func(db *sql.DB) error {
		// Without room a fold may fail where a smaller change does not: the tail can
		// stay as it is.
		foldErr := inTx(db, func(tx *sql.Tx) error { return w.folder.foldAll(tx) })
		err := inTx(db, func(tx *sql.Tx) error {
			if err := updateRun(tx, run); err != nil {
				return err
			}
			return sumUp(tx)
		})
		if err != nil {
			return errors.Join(foldErr, err)
		}
		return errors.Join(foldErr, seal(db, w.path))
	})
	if closeErr := w.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	return err
}

// sumUp writes what a finished file says about its series, and the checksums of all tables.
func sumUp(tx *sql.Tx) error {
	if err := sumSeries(tx); err != nil {
		return err
	}
	return writeSums(tx)
}

// sumSeries writes the extent of every series.
func sumSeries(tx *sql.Tx) error {
	rd, err := newReader(tx)
	if err != nil {
		return err
	}
	defer rd.close()
	extents := map[int64]*extent{}
	rd.points(func(times []time.Duration, c chunk.Column) {
		e := extents[c.ID]
		if e == nil {
			e = &extent{}
			extents[c.ID] = e
		}
		for i, t := range c.Ticks {
			e.add(times[t], c.Values[i])
		}
	})
	for id, e := range extents {
		v := e.values
		_, err := tx.Exec(`UPDATE series SET points = ?, first_ns = ?, last_ns = ?, first_value = ?, last_value = ?,
			min_value = ?, max_value = ? WHERE id = ?`, e.points, ns(e.first), ns(e.last),
			v[0], v[1], v[2], v[3], id) // NaN becomes NULL
		if err != nil {
			return fmt.Errorf("table series: %w", err)
		}
	}
	return nil
}

// seal moves the write-ahead log into the file and gives the pages that the tail
// took back to the file system.
func seal(db *sql.DB, path string) error {
	if err := drain(db, "PRAGMA incremental_vacuum"); err != nil {
		return fmt.Errorf("give back free pages: %w", err)
	}
	// Who reads the file now may go on; what is left to do then is done by the
	// next Open.
	if _, err := db.Exec("PRAGMA busy_timeout=1000"); err != nil {
		return err
	}
	var busy, logged, moved int
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil {
		return fmt.Errorf("move the log into the file: %w", err)
	}
	var mode string
	err := db.QueryRow("PRAGMA journal_mode=DELETE").Scan(&mode)
	switch {
	case logged == moved && isBusy(err):
		return nil // the file itself is complete
	case isBusy(err):
		return ErrInUse
	case err != nil:
		return fmt.Errorf("remove the log: %w", err)
	case !strings.EqualFold(mode, "delete"):
		return fmt.Errorf("remove the log: journal mode is still %q", mode)
	}
	// Left by a reader that was killed, or by a recorder; the mode could only
	// change because no one else has the file open.
	if err := os.Remove(path + "-shm"); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove the log's index: %w", err)
	}
	return nil
}

// drain runs a statement to its last row: this pragma frees one page a row.
func drain(db *sql.DB, query string) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}
