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
