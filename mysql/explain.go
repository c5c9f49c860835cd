package mysql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysqlflags"
)

// defaultExplainLimit is how long one answer may take.
const defaultExplainLimit = 5 * time.Second

// A Question is what to ask of a statement.
type Question struct {
	Schema    string        // default database of the statement; empty: none
	Statement string        // without a final semicolon
	Analyze   bool          // run it and report what it took: for statements that only read
	Limit     time.Duration // of each question, 0: 5 s
	Hidden    bool          // the plan may use indexes that are invisible, where [Reader.CanHide]
}

// Explained is what the server said of a statement.
type Explained struct {
	Steps  [][]string // the rows of EXPLAIN, the names of the columns first
	Text   string     // the JSON, or the rows as tab-separated text where there is none
	Format string     // of the text: table, json or analyze
	Note   string     // what was left out, empty when nothing was
}

// Explain asks how the reader's server runs a statement: the rows of EXPLAIN, and its JSON as
// the text. It never runs the statement unless it is asked to analyze it, and asks
// within a read-only transaction that it rolls back, so nothing can be changed by
// it. What is no plain SELECT is refused and not sent: of a statement that writes ask of
// the SELECT that finds the same rows.
//
// Sources: MySQL 9.7 manual, EXPLAIN Statement; MariaDB documentation, EXPLAIN,
// ANALYZE FORMAT=JSON, SET STATEMENT.
func Explain(ctx context.Context, r *Reader, e Question) (Explained, error) {
	if e.Limit <= 0 {
		e.Limit = defaultExplainLimit
	}
	ctx, cancel := context.WithTimeout(ctx, 2*e.Limit+time.Second)
	defer cancel()
	plan := Explained{Format: "table"}
	if _, ok := sqlshape.PlainSelect([]byte(e.Statement)); !ok {
		return plan, fmt.Errorf("explain: not asked, it is not one SELECT that only returns rows: %w", ErrUnexpected)
	}
	err := r.with(ctx, func(conn *session) (err error) {
		plan = Explained{Format: "table"}
		if e.Schema != "" {
			if err := conn.exec(ctx, "USE "+QuoteName(e.Schema)); err != nil {
				return err
			}
		}
		if err := conn.exec(ctx, "START TRANSACTION READ ONLY"); err != nil {
			return err
		}
		after := []string{"ROLLBACK", conn.limit(0)}
		if e.Hidden {
			after = append(after, invisible+"off'")
		}
		defer func() {
			for _, s := range after {
				if end := conn.exec(context.WithoutCancel(ctx), s); err == nil {
					err = end
				}
			}
		}()
		if err := conn.exec(ctx, conn.limit(e.Limit)); err != nil {
			return err
		}
		if e.Hidden {
			if err := conn.exec(ctx, invisible+"on'"); err != nil {
				return err
			}
		}
		return explainOn(ctx, conn, e, &plan)
	})
	if err != nil {
		return plan, fmt.Errorf("explain: %w", err)
	}
	return plan, nil
}

// invisible begins the statement by which a session may use indexes that are invisible.
const invisible = "SET SESSION optimizer_switch = 'use_invisible_indexes="

// explainOn asks for the rows and then for the JSON. Where the server has no JSON
// for a statement, the rows are the text.
func explainOn(ctx context.Context, conn *session, e Question, plan *Explained) error {
	table, tree := "EXPLAIN FORMAT=TRADITIONAL ", "EXPLAIN FORMAT=JSON "
	if conn.flavor == MariaDB {
		table = "EXPLAIN EXTENDED "
	}
	if e.Analyze {
		tree = "EXPLAIN ANALYZE FORMAT=JSON "
		if conn.flavor == MariaDB {
			tree = "ANALYZE FORMAT=JSON "
		} else if !conn.version.AtLeast(8, 3, 0) {
			tree = "EXPLAIN ANALYZE "
		}
	}
	rows, err := conn.texts(ctx, table+e.Statement)
	if err != nil {
		return err
	}
	plan.Steps, plan.Text = rows, tabbed(rows)
	began := time.Now()
	answer, err := conn.texts(ctx, tree+e.Statement)
	if e.Analyze && time.Since(began) >= e.Limit { // MySQL reports what it saw up to then, as if that were all
		plan.Note = fmt.Sprintf("stopped after %v: the figures are of what ran until then", e.Limit)
	}
	switch {
	case err != nil && mysqlflags.ErrorNumber(err) != 0:
		plan.Note = err.Error()
	case err != nil:
		return err
	case len(answer) == 2 && len(answer[1]) == 1:
		plan.Text, plan.Format = answer[1][0], "json"
		if e.Analyze {
			plan.Format = "analyze"
		}
	}
	return nil
}

// tabbed joins rows to lines of tab-separated cells.
func tabbed(rows [][]string) string {
	var b strings.Builder
	plain := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(plain.Replace(cell))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
