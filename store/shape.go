package store

import "fmt"

// A run file is data: SQLite computes nothing of what a file says, and walks through each
// table once. A view or a column that is computed can go on for ever or take all memory,
// a trigger is run by who edits the file, and a table whose id is not its row's number is
// sorted on the disk first. kasoku writes none of these.
//
// Sources: SQLite, "Defense Against The Dark Arts"; "PRAGMA table_list", "PRAGMA
// table_xinfo".
const (
	foreignTables = `SELECT 'a ' || type, name FROM pragma_table_list WHERE schema = 'main' AND (type <> 'table' OR wr <> 0)`

	foreignColumns = `SELECT 'a column of its own kind', t.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c
	WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
	AND (c.hidden <> 0 OR c.name = 'id' COLLATE NOCASE AND (c.pk <> 1 OR upper(c.type) <> 'INTEGER'))`

	foreignTriggers = `SELECT 'a ' || type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index')`
)

// checkShape refuses a database that holds other things than tables of rows. What of a
// damaged schema could not be loaded is not there for later statements either.
func checkShape(db queryer, m mode) error {
	for _, query := range []string{foreignTables, foreignColumns, foreignTriggers} {
		err := findForeign(db, query)
		if err != nil && (m != salvaging || !isDamage(err)) {
			return err
		}
	}
	return nil
}

func findForeign(db queryer, query string) error {
	rows, err := db.Query(query + " LIMIT 1")
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		var what, name string
		if err := rows.Scan(&what, &name); err != nil {
			return err
		}
		return fmt.Errorf("%w: it has %s, %.40q", ErrNotRun, what, name)
	}
	return rows.Err()
}
