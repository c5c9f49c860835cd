package record

import (
	"context"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
)

// wantTable decides whether the slow log goes to its table, too: where rows of
// somebody else are there that are not to be mixed with the run's, it does not.
// MySQL's file has microseconds, and needs no table.
func (d *database) wantTable(ctx context.Context) (warnings []kasoku.Warning) {
	if d.reader.Flavor() != mysql.MariaDB {
		return nil
	}
	vars, err := d.reader.Variables(ctx)
	if err == nil && !strings.Contains(strings.ToUpper(vars["log_output"]), "TABLE") {
		var empty bool
		if empty, err = mysql.NewSlowTable(d.reader).IsEmpty(ctx); err == nil && !empty {
			return []kasoku.Warning{{Code: "no-slow-table", Text: "mysql.slow_log has rows that are not kasoku's: the " +
				"slow log's file is looked at every 5 ms instead",
				Hint: "TRUNCATE mysql.slow_log, when no one needs them"}}
		}
		d.emptyTable = err == nil
	}
	if err != nil {
		return []kasoku.Warning{{Code: "no-slow-table", Text: "the slow log's file is looked at every 5 ms instead of " +
			"its table: " + err.Error(), Hint: hint(err)}}
	}
	d.table = true
	d.slow = mysql.NewSlowLog(d.reader, mysql.Settings{Table: true})
	return nil
}

// tidyTable removes what the run left in the slow log's table, once the log no
// longer goes there.
func (d *database) tidyTable(ctx context.Context) []kasoku.Warning {
	if !d.emptyTable {
		return nil
	}
	vars, err := d.reader.Variables(ctx)
	if err == nil && strings.Contains(strings.ToUpper(vars["log_output"]), "TABLE") {
		return nil // another recording goes on, or it was not put back, which is reported
	}
	if err == nil {
		err = mysql.NewSlowTable(d.reader).Clear(ctx)
	}
	if err != nil {
		return []kasoku.Warning{{Code: "not-restored", Text: "the run's statements stay in mysql.slow_log: " + err.Error(), Hint: "TRUNCATE mysql.slow_log"}}
	}
	d.emptyTable = false
	return nil
}
