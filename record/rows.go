package record

import (
	"context"

	"github.com/kasoku/kasoku"
)

// countRows counts the tables before the load.
func (s *session) countRows(ctx context.Context) error {
	for _, table := range s.o.CountRows {
		n, err := s.db.reader.CountRows(ctx, table)
		if err != nil {
			return err
		}
		s.rows = append(s.rows, kasoku.RowCheck{Host: s.host(), Table: table, Before: n, After: n})
	}
	return nil
}

// recountRows counts them again; a table that cannot be counted is left out
// with a warning.
func (s *session) recountRows(ctx context.Context) {
	kept := s.rows[:0]
	for _, c := range s.rows {
		n, err := s.db.reader.CountRows(ctx, c.Table)
		if err != nil {
			s.warn(kasoku.Warning{Code: "rows", Text: "rows not checked: " + err.Error(), Hint: hint(err)})
			continue
		}
		c.After = n
		kept = append(kept, c)
	}
	s.rows = kept
}

// saveRows stores the counts beside the successes that they must match: of the
// access log, which sees what the server answered also when the client had
// given up, else of the load.
func (s *session) saveRows() error {
	if len(s.rows) == 0 {
		return nil
	}
	successes, ok := s.writes()
	if !ok {
		s.warn(kasoku.Warning{Code: "rows", Text: "rows counted but not checked: there is neither an access log nor a load of kasoku's to count successes"})
		return nil
	}
	for i := range s.rows {
		s.rows[i].Successes = successes
	}
	return s.store.SaveRowChecks(s.rows)
}

// writes counts the requests that may write and were answered with 2xx.
func (s *session) writes() (n uint64, ok bool) {
	for _, e := range s.endpoints {
		if isWrite(e.Method) {
			n += successes(e.Codes)
		}
	}
	if len(s.endpoints) > 0 {
		return n, true
	}
	return s.loaded, s.summary != nil
}

func successes(codes map[int]uint64) (n uint64) {
	for code, k := range codes {
		if code >= 200 && code < 300 {
			n += k
		}
	}
	return n
}

func isWrite(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		return false
	}
	return true
}
