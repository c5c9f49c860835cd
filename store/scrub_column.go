package store

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/store/scrub"
)

// keptColumns lists, by table, the text columns that stay in a scrubbed file, masked:
// names of things, words of a fixed set, and what rules wrote of figures. All other
// text is cleared. Columns called host, kind, source and the ids are kept everywhere.
var keptColumns = map[string]string{
	"run":              "project label zone state version revision recorder_boot_id verdict observers currency",
	"host":             "name os kernel arch boot_id",
	"command":          "args signal",
	"load":             "engine model targets pacing",
	"load_second":      "target codes errors",
	"series":           "name instance unit",
	"change":           "object name",
	"setting":          "scope name",
	"config":           "name note",
	"raw_config":       "text",
	"log_window":       "path format",
	"endpoint":         "method route codes seconds",
	"slow_request":     "method route",
	"query":            "fingerprint tag verb tables schema_name seconds numbers",
	"save_shape":       "table_name",
	"txn":              "shape tag verbs",
	"plan":             "schema_name format",
	"plan_step":        "select_type table_name access possible_keys key_name key_len",
	"table_def":        "schema_name name engine indexes columns checks",
	"advice":           "area title variable confidence window",
	"message":          "path level code seconds",
	"row_check":        "table_name",
	"warning":          "code",
	"diagnosis":        "verdict",
	"finding":          "object_kind object_name title clause severity confidence impact_of impact_shared cause fixes expect verify explains",
	"evidence":         "value series",
	"score":            "outcome",
	"summary":          "bottleneck",
	"caller":           "method route with_endpoints class",
	"query_join":       "loops",
	"lock_wait":        "table_name index_name waiting blocking",
	"deadlock":         "table_name statements indexes",
	"profile":          "program address unit",
	"profile_function": "name file",
	"trace":            "members endpoints calls externals syncs",
	"member": "member_id role program unit container cgroup processes listeners language framework version logs configs found sure " +
		"blocks cpus",
	"member_edge": "from_member to_member network address protocol found",
	"unseen":      "what why show_by",
}

// exactColumns hold ids, in which a row of digits is no person's number.
var exactColumns = strings.Fields("id run_id run_group query_id waiting_id blocking_id list_id check_id finding_id boot_id recorder_boot_id revision")

// A textColumn is a column of the file that holds text.
type textColumn struct{ table, name string }

// textColumns returns all of them, as the file has them.
func textColumns(tx *sql.Tx) ([]textColumn, error) {
	rows, err := tx.Query(`SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name <> 'checksum'
		AND upper(c.type) NOT IN ('INTEGER', 'REAL', 'BLOB') ORDER BY 1, 2`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []textColumn
	for rows.Next() {
		var c textColumn
		if err := rows.Scan(&c.table, &c.name); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// kept reports whether the column stays.
func (c textColumn) kept() bool {
	return c.exact() || c.name == "host" || c.name == "kind" || c.name == "source" ||
		slices.Contains(strings.Fields(keptColumns[c.table]), c.name)
}

func (c textColumn) exact() bool { return slices.Contains(exactColumns, c.name) }

// scrub returns what stays of a value.
func (c textColumn) scrub(text string) string {
	switch {
	case c.table == "command" && c.name == "args":
		return scrub.Args(text)
	case !c.kept():
		return scrub.MapJSON(text, func(string) string { return "" })
	case c.exact():
		return scrub.MapJSON(text, scrub.ID)
	}
	return scrub.MapJSON(text, scrub.Text)
}

// scrubColumns goes over all text columns. It returns how many texts it cleared and
// how many it masked, and adds their tables to changed.
func scrubColumns(tx *sql.Tx, changed map[string]bool) (cleared, masked int64, err error) {
	columns, err := textColumns(tx)
	if err != nil {
		return 0, 0, fmt.Errorf("list columns: %w", err)
	}
	for _, c := range columns {
		n, err := c.scrubAll(tx)
		if err != nil {
			return 0, 0, fmt.Errorf("table %s: column %s: %w", c.table, c.name, err)
		}
		if c.kept() {
			masked += n
		} else {
			cleared += n
		}
		changed[c.table] = changed[c.table] || n > 0
	}
	return cleared, masked, nil
}

func (c textColumn) scrubAll(tx *sql.Tx) (int64, error) {
	changed := map[int64]string{}
	column := quoteName(c.name)
	err := eachText(tx, fmt.Sprintf("SELECT id, CAST(%s AS TEXT) FROM %s", column, quoteName(c.table)),
		func(id int64, text string) {
			if safe := c.scrub(text); safe != text {
				changed[id] = safe
			}
		})
	if err != nil {
		return 0, err
	}
	return int64(len(changed)), updateTexts(tx, c.table, column, changed)
}

// updateTexts changes the texts of a column, by the rows' ids.
func updateTexts(tx *sql.Tx, table, column string, changed map[int64]string) error {
	update := fmt.Sprintf("UPDATE OR IGNORE %s SET %s = ? WHERE id = ?", quoteName(table), column)
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		res, err := tx.Exec(update, changed[id], id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			continue
		}
		// Another row has this name: names of series are unique.
		if _, err := tx.Exec(update, fmt.Sprintf("%s #%d", changed[id], id), id); err != nil {
			return err
		}
	}
	return nil
}

// quoteName writes a name of the file's schema for SQL.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func eachText(tx *sql.Tx, query string, each func(id int64, text string)) error {
	rows, err := tx.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var text sql.NullString
		if err := rows.Scan(&id, &text); err != nil {
			return err
		}
		if text.Valid && text.String != "" {
			each(id, text.String)
		}
	}
	return rows.Err()
}
