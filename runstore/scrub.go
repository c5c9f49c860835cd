package runstore

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/analyze"
)

// ScrubOptions says what a scrub drops besides what it always does.
type ScrubOptions struct {
	Configs bool // all texts of the configuration, not only differences of code
}

// A Dropped is one kind of text that was dropped, and how much of it.
type Dropped struct {
	What  string // a plural: sample statements
	Count int64
}

// Scrub drops text as it was found in logs, statements and answers of commands, and
// masks what looks like a secret in the rest. Figures, findings and verdicts stay;
// evidence stands without its quotation. The bytes are cleared from the file. It
// returns what was dropped, without what was not there.
//
// Differences of code go too, and with Configs all texts of the configuration:
// their secrets are masked when they are taken, but they are long texts of others.
func (e *Editor) Scrub(o ScrubOptions) ([]Dropped, error) {
	var out []Dropped
	err := inTx(e.db, func(tx *sql.Tx) error {
		sound, err := soundTables(tx)
		if err != nil {
			return err
		}
		changed := map[string]bool{}
		for _, r := range rawTexts(o) {
			n, err := r.drop(tx)
			if err != nil {
				return err
			}
			changed[r.table], changed["config"] = true, true
			out = append(out, Dropped{r.what, n})
		}
		n, err := maskRest(tx, changed)
		if err != nil {
			return err
		}
		out = append(out, Dropped{"texts elsewhere, masked", n})
		// What was damaged before keeps its old checksum, which tells of it.
		return renewSums(tx, slices.DeleteFunc(sound, func(t summed) bool { return !changed[t.name] }))
	})
	if err == nil {
		_, err = e.db.Exec("VACUUM")
	}
	if err != nil {
		return nil, stepError("scrub", e.path, err)
	}
	there := out[:0]
	for _, d := range out {
		if d.Count > 0 {
			there = append(there, d)
		}
	}
	return there, nil
}

// A rawDrop is what is dropped of one table.
type rawDrop struct {
	what  string
	table string
	where string // all rows when empty
	first string // a statement that says so elsewhere, run before the rows go
}

func (r rawDrop) drop(tx *sql.Tx) (int64, error) {
	where := ""
	if r.where != "" {
		where = " WHERE " + r.where
	}
	if r.first != "" {
		if _, err := tx.Exec(r.first); err != nil {
			return 0, fmt.Errorf("table %s: %w", r.table, err)
		}
	}
	res, err := tx.Exec("DELETE FROM " + r.table + where)
	if err != nil {
		return 0, fmt.Errorf("table %s: %w", r.table, err)
	}
	return res.RowsAffected()
}

func rawTexts(o ScrubOptions) []rawDrop {
	ids := "id IN (SELECT id FROM config WHERE kind = 'git' AND name <> 'HEAD')"
	if o.Configs {
		ids = "id IN (SELECT id FROM config)"
	}
	return []rawDrop{
		{what: "outputs of commands", table: "raw_command"},
		{what: "lines that could not be parsed", table: "raw_bad_line"},
		{what: "sample statements", table: "raw_query"},
		{what: "statements as they were sent", table: "raw_statement"},
		{what: "paths of slow requests", table: "raw_uri"},
		{what: "plans as the server told them", table: "raw_plan"},
		{what: "statements of saves", table: "raw_save"},
		{what: "sample lines of application logs", table: "raw_message"},
		{what: "quotations of evidence", table: "raw_evidence"},
		{what: "texts of the configuration", table: "raw_config", where: ids,
			first: "UPDATE config SET note = '" + kasoku.ScrubbedNote + "' WHERE " + ids + " AND id IN (SELECT id FROM raw_config)"},
	}
}

// A maskedColumn holds text that may hold a secret although it is no sample.
type maskedColumn struct {
	table, column string
	name          string // a column that names the text, empty without one
	mask          func(text, name string) string
}

func maskedText(text, _ string) string {
	return string(analyze.AppendWithoutSecrets(nil, []byte(text)))
}
func maskedLine(text, _ string) string { return analyze.SafeCommandLine(text) }

// maskedColumns lists them. What a newer kasoku records is masked when it is
// recorded.
func maskedColumns() []maskedColumn {
	out := []maskedColumn{
		{"command", "args", "", maskedArgs}, {"load_second", "errors", "", maskedKeys}, {"run", "load", "", maskedLine},
		{"setting", "value", "name", func(value, name string) string { return analyze.SafeSetting(name, value) }},
	}
	for _, c := range []string{
		"run.note", "run.stop_reason", "run.verdict", "event.text", "warning.text", "warning.hint", "gap.reason", "log_window.note", "message.pattern",
		"change.note", "config.note", "phase.why", "score.source", "diagnosis.verdict", "finding.title", "finding.cause", "finding.clause", "silence.reason",
	} {
		table, column, _ := strings.Cut(c, ".")
		out = append(out, maskedColumn{table, column, "", maskedText})
	}
	return out
}

func maskedArgs(text, _ string) string {
	var args []string
	if json.Unmarshal([]byte(text), &args) != nil {
		return text
	}
	if safe := jsonText(analyze.SafeArgs(args)); safe != jsonText(args) {
		return safe
	}
	return text
}

func maskedKeys(text, _ string) string {
	var counts map[string]uint64
	if json.Unmarshal([]byte(text), &counts) != nil {
		return text
	}
	changed := false
	safe := make(map[string]uint64, len(counts))
	for k, n := range counts {
		s := maskedText(k, "")
		changed = changed || s != k
		safe[s] += n
	}
	if !changed {
		return text
	}
	return jsonText(safe)
}

// maskRest masks secrets in text that stays. It returns how many texts had one, and
// adds their tables to changed.
func maskRest(tx *sql.Tx, changed map[string]bool) (n int64, err error) {
	for _, c := range maskedColumns() {
		k, err := c.maskAll(tx)
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", c.table, err)
		}
		n += k
		changed[c.table] = changed[c.table] || k > 0
	}
	return n, nil
}

func (c maskedColumn) maskAll(tx *sql.Tx) (n int64, err error) {
	changed := map[int64]string{}
	err = eachText(tx, fmt.Sprintf("SELECT id, %s, %s FROM %s", c.column, cmp.Or(c.name, "''"), c.table), func(id int64, text, name string) {
		if safe := c.mask(text, name); safe != text {
			changed[id] = safe
		}
	})
	for id, text := range changed {
		if err == nil {
			_, err = tx.Exec("UPDATE "+c.table+" SET "+c.column+" = ? WHERE id = ?", text, id)
		}
	}
	return int64(len(changed)), err
}

func eachText(tx *sql.Tx, query string, each func(id int64, text, name string)) error {
	rows, err := tx.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var text, name string
		if err := rows.Scan(&id, &text, &name); err != nil {
			return err
		}
		each(id, text, name)
	}
	return rows.Err()
}
