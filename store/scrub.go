package store

import (
	"database/sql"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
)

// ScrubOptions configure what a scrub drops in addition to what it always does.
type ScrubOptions struct {
	Configs bool // all texts of the configuration, not only differences of code
}

// A Dropped is one kind of text that was dropped, and how much of it.
type Dropped struct {
	What  string // a plural: sample statements
	Count int64
}

// Scrub drops text as it was found in logs, statements and answers of commands, clears
// all texts that people or programs wrote freely (notes, warnings, events, arguments,
// values of settings, reasons), and masks what looks like a secret or like a person's
// data in the names and sentences that figures and findings stand for. Figures,
// findings and verdicts stay; evidence stands without its quotation. The bytes are
// cleared from the file. It returns what was dropped, without what was not there.
//
// Each text column of the file is cleared unless [keptColumns] lists it, so that one
// that is new, or of a newer kasoku, is covered.
//
// Differences of code go too, and with Configs all texts of the configuration:
// their secrets are masked when they are taken, but they are long texts of others.
func (e *Editor) Scrub(o ScrubOptions) ([]Dropped, error) {
	var out []Dropped
	// Pages that are given up are overwritten, also in the copy that VACUUM makes.
	if _, err := e.db.Exec("PRAGMA secure_delete=1"); err != nil {
		return nil, stepError("scrub", e.path, err)
	}
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
		cleared, masked, err := scrubColumns(tx, changed)
		if err != nil {
			return err
		}
		out = append(out, Dropped{"free texts", cleared}, Dropped{"texts elsewhere, masked", masked})
		// What was damaged before keeps its old checksum, which reveals it.
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
		{what: "plans as the server reported them", table: "raw_plan"},
		{what: "statements of saves", table: "raw_save"},
		{what: "sample lines of application logs", table: "raw_message"},
		{what: "quotations of evidence", table: "raw_evidence"},
		{what: "texts of the configuration", table: "raw_config", where: ids,
			first: "UPDATE config SET note = '" + kasoku.ScrubbedNote + "' WHERE " + ids +
				" AND id IN (SELECT id FROM raw_config)"},
	}
}
