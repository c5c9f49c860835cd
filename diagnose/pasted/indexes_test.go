package pasted

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexes"
)

// A wanted is a statement for which an index is proposed, and then used by the server, or
// for which none is.
type wanted struct {
	rule, shows string
	sql         string
	columns     string // of the index; empty: none is proposed
	sent        uint64
}

var wantedIndexes = []wanted{
	{"IDX-01", "a column of equality", "SELECT id FROM tickets WHERE owner = 17", "owner", 50},
	{"IDX-01", "reserved names", "SELECT `id` FROM `tickets` WHERE `order` = 3", "`order`", 20},
	{"IDX-01", "a table with a reserved name", "SELECT * FROM `rank` WHERE `select` = 5", "`select`", 20},
	{"IDX-01", "a column of one value beside one of many", "SELECT id, title FROM tickets WHERE state = 'open' AND owner = 17", "owner", 50},
	{"IDX-01", "a column of one value alone", "SELECT id, title FROM tickets WHERE state = 'open' AND title <> 'x'", "", 19_000},
	{"IDX-01", "the column of a join, of the table that is read whole", "SELECT c.body FROM remarks c JOIN tickets t ON t.id = c.ticket WHERE t.id IN (1, 2, 3)", "ticket", 3},
	{"IDX-01", "the column of a join that begins with the wrong table", "SELECT c.body FROM remarks c JOIN authors a ON a.id = c.author WHERE a.town = 3", "author", 400},
	{"IDX-04", "an order with a LIMIT", "SELECT id, title FROM tickets ORDER BY opened DESC LIMIT 20", "opened", 20},
	{"IDX-04", "one value, an order with a LIMIT", "SELECT id, title FROM tickets WHERE state = 'open' ORDER BY opened DESC LIMIT 20", "opened", 20},
	{"IDX-04", "a range", "SELECT id, title FROM tickets WHERE opened >= '2026-01-01 10:00:00' AND opened < '2026-01-01 10:10:00'", "opened", 10},
}

var ticketTables = []string{
	"CREATE TABLE tickets (id INT PRIMARY KEY, state VARCHAR(10) NOT NULL, owner INT NOT NULL, `order` INT NOT NULL, opened DATETIME NOT NULL, title VARCHAR(80) NOT NULL)",
	"CREATE TABLE remarks (id INT PRIMARY KEY, ticket INT NOT NULL, author INT NOT NULL, body VARCHAR(200) NOT NULL)",
	"CREATE TABLE authors (id INT PRIMARY KEY, town INT NOT NULL)",
	"CREATE TABLE `rank` (id INT PRIMARY KEY, `select` INT NOT NULL, note VARCHAR(80) NOT NULL)",
}

// fillTickets makes the tables once a server, 20,000 rows each.
func (s *server) fillTickets() error {
	for _, q := range ticketTables {
		if _, err := s.db.Exec(q); err != nil {
			return err
		}
	}
	for from := 0; from < 20_000; from += 2000 {
		var rows [3][]string
		for i := from; i < from+2000; i++ {
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i*7919%20_000) * time.Minute)
			rows[0] = append(rows[0], fmt.Sprintf("(%d,'open',%d,%d,'%s','ticket %d')", i, i*31%400, i*17%1000, at.Format(time.DateTime), i))
			rows[1] = append(rows[1], fmt.Sprintf("(%d,%d,%d,'a remark of some length about what was seen, number %d')", i, i*7919%20_000, i%150, i))
			rows[2] = append(rows[2], fmt.Sprintf("(%d,%d,'note %d')", i, i*13%1000, i))
		}
		for i, t := range []string{"tickets", "remarks", "`rank`"} {
			if _, err := s.db.Exec("INSERT INTO " + t + " VALUES " + strings.Join(rows[i], ",")); err != nil {
				return err
			}
		}
	}
	if _, err := s.db.Exec("INSERT INTO authors SELECT id, id MOD 50 FROM tickets WHERE id < 150"); err != nil {
		return err
	}
	_, err := s.ask("ANALYZE TABLE tickets, remarks, authors, `rank`")
	return err
}

func indexRows() (out []row) {
	filled := map[*server]func() error{}
	for _, w := range wantedIndexes {
		out = append(out, row{w.rule, "index: " + w.shows, func(s *server) (string, error) {
			if filled[s] == nil {
				filled[s] = sync.OnceValue(s.fillTickets)
			}
			if err := filled[s](); err != nil {
				return "", err
			}
			return w.check(s)
		}})
	}
	return out
}

// check creates what is proposed, asks the server whether it uses it, and takes it back.
func (w wanted) check(s *server) (string, error) {
	q := class("P", w.sql, 1000, w.sent, 40*time.Second)
	q.RowsExamined = 20_000 * q.Calls
	c := s.run(q)
	advice, err := indexes.Propose(c.Recording)
	if err != nil {
		return "", err
	}
	if w.columns == "" {
		if len(advice.Proposals) > 0 {
			return "", fmt.Errorf("proposed: %s", advice.Proposals[0].DDL)
		}
		return "none is proposed", nil
	}
	fixes, err := s.fixes(w.rule, c)
	if err != nil {
		return "", err
	}
	first := advice.Proposals[0]
	if got := first.Columns[0].String(); got != w.columns {
		return "", fmt.Errorf("begins with %s: %s", got, first.DDL)
	}
	for _, e := range fixes[0].Edits {
		if _, err := s.db.Exec(e.Do); err != nil {
			return "", fmt.Errorf("%s: %w", e.Do, err)
		}
		defer s.db.Exec(e.Undo)
	}
	if code := strings.TrimSuffix(fixes[0].Code, ";"); code != first.DDL || fixes[0].Edits[0].Kind != kasoku.EditIndex {
		return "", fmt.Errorf("printed %s, to be done %s", code, first.DDL)
	}
	before := c.Plans[0].Rows
	after := s.run(q).Plans[0].Rows
	var keys []string
	for _, r := range after {
		keys = append(keys, r.Key)
	}
	if !strings.Contains(strings.Join(keys, " "), first.Name) {
		return "", fmt.Errorf("%s: the server uses %v", first.DDL, keys)
	}
	return fmt.Sprintf("%s: %.0f → %.0f rows, used", first.DDL, before[0].Rows, after[0].Rows), nil
}
