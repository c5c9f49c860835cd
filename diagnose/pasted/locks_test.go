package pasted

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// literal is a value in a statement.
var literal = regexp.MustCompile(`'[^']*'|\b[0-9]+\b`)

// inTransactions is a run of transactions with these two statements.
func (s *server) inTransactions(first, then string) *diagnose.Case {
	const calls = 1000
	rec := s.run(class("A", first, calls, 1, time.Second), class("B", then, calls, 0, time.Second))
	rec.Transactions = []kasoku.Transaction{{Shape: []string{"A", "B"}, Count: calls, Statements: 2 * calls}}
	return rec
}

// takesOnce has eight clients take the row of a SELECT … FOR UPDATE at once, by the UPDATE that the rule prints:
// one of them gets it.
func takesOnce(first, then, state string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		fixes, err := s.fixes("LCK-03", s.inTransactions(first, then))
		if err != nil {
			return "", err
		}
		code, words := sqlOf(fixes)
		if code == "" {
			return "", fmt.Errorf("in words: %s", words)
		}
		values := append(literal.FindAllString(then, -1), literal.FindString(first[strings.Index(first, state):]))
		for _, v := range values {
			code = strings.Replace(code, "?", v, 1)
		}
		if strings.Contains(code, "?") {
			return "", fmt.Errorf("values are left: %s", code)
		}
		var all sync.WaitGroup
		var took, failed atomic.Int64
		for range 8 {
			all.Go(func() {
				res, err := s.db.Exec(code)
				if err != nil {
					failed.Add(1)
					return
				}
				n, _ := res.RowsAffected() // MySQL always has it
				took.Add(n)
			})
		}
		all.Wait()
		if took.Load() != 1 || failed.Load() > 0 {
			return "", fmt.Errorf("%d rows taken, %d failed: %s", took.Load(), failed.Load(), code)
		}
		_, err = s.db.Exec("UPDATE books SET shelf = IF(id = 3, 2, shelf), kind = IF(id > 2, 'map', 'novel')")
		return "taken by one of eight", err
	}
}

// isNoTaking has the rule say nothing.
func isNoTaking(first, then string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		if fixes, err := s.fixes("LCK-03", s.inTransactions(first, then)); err == nil {
			return "", fmt.Errorf("it proposes %v", fixes)
		}
		return "silent", nil
	}
}

// holdsOff has two clients count and insert under the lock that is printed, beside one who reads: they come one
// after another, and who reads does not wait.
func holdsOff(s *server) (string, error) {
	fixes, err := s.fixes("LCK-04", s.run(class("A", "LOCK TABLES readers WRITE, loans READ", 1000, 0, time.Second)))
	if err != nil {
		return "", err
	}
	code, _ := sqlOf(fixes)
	steps := strings.Split(strings.TrimSuffix(code, ";"), ";\n")
	if len(steps) != 4 {
		return "", fmt.Errorf("not four steps: %s", code)
	}
	conns := make([]*sql.Conn, 2)
	for i := range conns {
		if conns[i], err = s.db.Conn(s.t.Context()); err != nil {
			return "", err
		}
		defer conns[i].Close()
	}
	run := func(c *sql.Conn, text string) (n sql.NullInt64, err error) {
		if strings.HasPrefix(text, "SELECT") {
			return n, c.QueryRowContext(s.t.Context(), text).Scan(&n)
		}
		_, err = c.ExecContext(s.t.Context(), text)
		return n, err
	}
	for _, step := range steps[:2] {
		if n, err := run(conns[0], step); err != nil || strings.HasPrefix(step, "SELECT") && n.Int64 != 1 {
			return "", fmt.Errorf("%s: %d, %v", step, n.Int64, err)
		}
	}
	if n, err := run(conns[1], strings.Replace(steps[0], "10)", "0)", 1)); err != nil || n.Int64 != 0 {
		return "", fmt.Errorf("the second has the lock too: %d, %v", n.Int64, err)
	}
	if _, err := run(conns[1], "SELECT COUNT(*) FROM readers"); err != nil {
		return "", err
	}
	for _, step := range steps[2:] {
		if n, err := run(conns[0], step); err != nil || strings.HasPrefix(step, "SELECT") && n.Int64 != 1 {
			return "", fmt.Errorf("%s: %d, %v", step, n.Int64, err)
		}
	}
	if n, err := run(conns[1], steps[0]); err != nil || n.Int64 != 1 {
		return "", fmt.Errorf("the second does not get the lock: %d, %v", n.Int64, err)
	}
	_, err = run(conns[1], steps[3])
	return "one after another, and reads go on", err
}
