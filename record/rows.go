package record

import (
	"context"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/store"
)

// rowCounts compares the rows that tables gained with the requests that may have added them.
type rowCounts struct {
	*recorder
	logs  *logbook
	loads *loads
	rows  []kasoku.RowCheck
}

// count counts the tables before the load.
func (c *rowCounts) count(ctx context.Context) error {
	for _, table := range c.o.CountRows {
		n, err := mysql.NewSchema(c.db.reader).CountRows(ctx, table)
		if err != nil {
			return err
		}
		c.rows = append(c.rows, kasoku.RowCheck{Host: c.host(), Table: table, Before: n, After: n})
	}
	return nil
}

// recount counts them again; a table that cannot be counted is left out
// with a warning.
func (c *rowCounts) recount(ctx context.Context) {
	kept := c.rows[:0]
	for _, row := range c.rows {
		n, err := mysql.NewSchema(c.db.reader).CountRows(ctx, row.Table)
		if err != nil {
			c.warn(kasoku.Warning{Code: "rows", Text: "rows not checked: " + err.Error(), Hint: hint(err)})
			continue
		}
		row.After = n
		kept = append(kept, row)
	}
	c.rows = kept
}

// save stores the counts beside the successes that they must match: of the
// access log, which sees what the server answered also when the client had
// given up, else of the load.
func (c *rowCounts) save() error {
	if len(c.rows) == 0 {
		return nil
	}
	successes, ok := c.writes()
	if !ok {
		c.warn(kasoku.Warning{Code: "rows", Text: "rows counted but not checked: there is neither an access log nor a " +
			"load of kasoku's to count successes"})
		return nil
	}
	for i := range c.rows {
		c.rows[i].Successes = successes
	}
	return store.Save(c.store, c.rows)
}

// writes counts the requests that may write and were answered with 2xx.
func (c *rowCounts) writes() (n uint64, ok bool) {
	for _, e := range c.logs.endpoints {
		if isWrite(e.Method) {
			n += successes(e.Codes)
		}
	}
	if len(c.logs.endpoints) > 0 {
		return n, true
	}
	return c.loads.loaded, c.loads.summary != nil
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
