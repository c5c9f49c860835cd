package record

import (
	"context"

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
	free, err := d.hold.TakeRows(ctx)
	switch {
	case err != nil:
		return []kasoku.Warning{{Code: "no-slow-table", Text: "the slow log's file is looked at every 5 ms instead of " +
			"its table: " + err.Error(), Hint: hint(err)}}
	case !free:
		return []kasoku.Warning{{Code: "no-slow-table", Text: "mysql.slow_log has rows that are not kasoku's: the " +
			"slow log's file is looked at every 5 ms instead",
			Hint: "TRUNCATE mysql.slow_log, when no one needs them"}}
	}
	d.table = true
	d.slow = mysql.NewSlowLog(d.reader, mysql.Settings{Table: true})
	return nil
}

// tidyTable removes what the run left in the slow log's table, unless another recording reads
// it.
func (d *database) tidyTable(ctx context.Context) []kasoku.Warning {
	err := d.hold.FreeRows(ctx)
	if err != nil {
		return []kasoku.Warning{{Code: "not-restored", Text: "the run's statements stay in mysql.slow_log: " + err.Error(), Hint: "`kasoku restore` tries again; by hand: TRUNCATE mysql.slow_log"}}
	}
	return nil
}
