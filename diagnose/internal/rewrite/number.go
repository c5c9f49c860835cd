package rewrite

import (
	"errors"
	"strings"

	"github.com/kasoku/kasoku/diagnose/indexes"
)

var errNumbered = errors.New("the table has a column that numbers its rows")

// NumberRows returns the statement that numbers the rows of a table without a primary key
// in the order in which they are stored. Where the server has invisible columns, SELECT *
// and an INSERT that names no columns stay as they are. The column is the one that it adds.
func (d Dialect) NumberRows(table, create string) (code, column string, err error) {
	lower := strings.ToLower(create)
	if columns, _, _ := strings.Cut(lower, ") engine="); strings.Contains(columns, "auto_increment") {
		return "", "", errNumbered
	}
	name := "seq"
	for strings.Contains(lower, "`"+name+"`") {
		name = "row_" + name
	}
	kind := " BIGINT UNSIGNED NOT NULL AUTO_INCREMENT"
	if d.invisible {
		kind += " INVISIBLE"
	}
	return "ALTER TABLE " + indexes.QuoteName(table) + " ADD COLUMN " + name + kind +
		", ADD UNIQUE KEY (" + name + ");", name, nil
}
