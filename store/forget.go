package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Processes come and go, and each brings series of its own. What the writer
// remembers of them must not grow with the length of a run: the file has them.

// forget leaves in memory the series of the last frame alone, once there are
// many others.
func (s *source) forget() {
	if len(s.ids) <= 2*len(s.last) {
		return
	}
	s.ids, s.forgot = make(map[seriesName]int64, len(s.last)), true
	for _, l := range s.last {
		s.ids[l.seriesName] = l.id
	}
}

// recall looks a series up in the file.
func (s *source) recall(db *sql.DB, name seriesName) (id int64, known bool, err error) {
	const query = "SELECT id FROM series WHERE host = ? AND source = ? AND name = ? AND instance = ?"
	err = db.QueryRow(query, s.key.host, s.key.source, name.name, name.instance).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("table series: %w", err)
	}
	s.ids[seriesName{strings.Clone(name.name), strings.Clone(name.instance)}] = id
	return id, true, nil
}

// RenameInstances gives the instances of a source's series other names, and clears the old ones
// from the file. Names that would then be the same have a number. No frame of the source may be
// written after it.
func (w *Writer) RenameInstances(source string, rename func(series, instance string) string) error {
	return w.record("rename series", func(db *sql.DB) error {
		if _, err := db.Exec("PRAGMA secure_delete=1; PRAGMA temp_store=memory"); err != nil {
			return err
		}
		return inTx(db, func(tx *sql.Tx) error {
			changed := map[int64]string{}
			err := eachText(tx, "SELECT id, name || char(10) || instance FROM series WHERE source = '"+source+"'",
				func(id int64, text string) {
					series, instance, _ := strings.Cut(text, "\n")
					if name := rename(series, instance); name != instance {
						changed[id] = name
					}
				})
			if err != nil || len(changed) == 0 {
				return err
			}
			return errors.Join(updateTexts(tx, "series", "instance", changed), rewriteSeries(tx))
		})
	})
}

// rewriteSeries writes the table of series anew: where pages of its index were split, copies of rows
// are left between their cells, which secure_delete overwrites with the page alone.
func rewriteSeries(tx *sql.Tx) error {
	_, err := tx.Exec("CREATE TEMP TABLE kept AS SELECT * FROM series; DELETE FROM series;" +
		" INSERT INTO series SELECT * FROM kept; DROP TABLE kept")
	return err
}
