package index

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// WrappedColumn is the rule IDX-10.
type WrappedColumn struct{}

// ID returns IDX-10.
func (WrappedColumn) ID() string { return "IDX-10" }

// Doc describes the rule.
func (WrappedColumn) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds conditions on a function of a column (YEAR, LOWER, FIND_IN_SET …) that read a whole table.`,
		Evidence: `a SELECT compares a function of one column with values, as a condition that all of its rows
			must meet, and examines at least 1,000 rows a call, at least half of the table and ten for each
			that it sends; the plan reads the whole table; or looks by FIND_IN_SET
			into a list that is kept as text, in a quarter of the rows that the plan counts on; it takes at least
			2 % of the requests' time.`,
		Cause: `an index has the column's values, not what the function makes of them, so the function is
			worked out for each row.`,
		Fix: `compare the column itself: a range for YEAR and DATE, nothing where the column is compared
			without case anyway; else an index of the function, in MariaDB a generated column with an index.`,
		Silent: `when other conditions leave few rows, when most rows are sent, when an index of the function
			serves, when it takes little time, and blind without a slow log or the tables' definitions.`,
	}
}

// Check looks for tables that are read whole for a function of a column.
func (r WrappedColumn) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	found, near, said := scansOf(c, advised,
		func(h *indexes.Hidden) bool {
			return h.Function != indexes.LikeFunction && h.Function != indexes.RegexpFunction &&
				h.Function != indexes.ConversionFunction
		})
	var out []kasoku.Finding
	for i := range found {
		s := &found[i]
		name := s.read.Table.Name
		if !slices.ContainsFunc(out, func(f kasoku.Finding) bool { return f.Object.Name == name }) {
			out = append(out, r.finding(c, s))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if said == "" {
		said = "no table is read whole for a function of a column"
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

func (r WrappedColumn) finding(c *diagnose.Case, s *scan) kasoku.Finding {
	h := s.hidden[0]
	if h.Function == indexes.ListFunction {
		return r.list(c, s)
	}
	call := h.Function + "(" + h.Column + ")"
	f := s.finding(c, r.ID(), fmt.Sprintf("%s reads %s rows of %s for %s", wording.Cut(call, 24),
		diagnose.Whole(s.rowsRead()), wording.Cut(s.read.Table.Name, 16),
		wording.Average(statements.RowsPerCall(s.query))))
	kept := diagnose.Signal{Holds: true}
	if s.read.Count {
		kept.Blind = "how many rows a figure is made of is not in the log"
	}
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, s.planned(), kept)
	f.Cause = fmt.Sprintf("%s is worked out for each of the %s rows of %s: an index of %s has its values, not what "+
		"%s makes of them.",
		call, diagnose.Whole(s.rowsRead()), s.read.Table.Name, h.Column, h.Function)
	f.Fixes = []kasoku.Fix{s.free(c)}
	f.Expect = "the statement examines the rows that it needs"
	return f
}

// list is about a column that has a list of values as text.
func (r WrappedColumn) list(c *diagnose.Case, s *scan) kasoku.Finding {
	h, t := s.hidden[0], s.read.Table.Name
	examined, sent := diagnose.Whole(advice.ExaminedPerCall(s.query)), wording.Average(statements.RowsPerCall(s.query))
	f := s.finding(c, r.ID(), fmt.Sprintf("FIND_IN_SET in %s.%s: %s rows for %s", wording.Cut(t, 20),
		wording.Cut(h.Column, 20), examined, sent))
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, s.planned(),
		diagnose.Signal{Blind: "how many rows have the value is not in the log"})
	f.Cause = fmt.Sprintf("%s has a list of values as text, of which an index finds none: the list of each row that "+
		"other conditions leave of %s is read and taken apart. A call examines %s rows for %s that it sends.", h.Column, t,
		examined, sent)
	f.Fixes = []kasoku.Fix{{Text: "Keep the values of " + h.Column + " in a table of their own, a row for each, " +
		"with an index that begins with the value", Where: "the schema, and where the statement is made",
		Risk: kasoku.RiskAppRestart,
		Note: "The statement joins it, or asks by EXISTS. It helps where few rows have the value; where most have, all " +
			"are read either way. What writes the list must write the rows too."}}
	f.Expect = "the statement examines the rows that have the value"
	return f
}

// free is how an index comes to serve the first condition: by the column itself where that
// answers the same, else by what the function gives.
func (s *scan) free(c *diagnose.Case) kasoku.Fix {
	h, d, text := s.hidden[0], rewrite.DialectOf(c.Recording), statements.TextOf(s.query)
	if strings.HasPrefix(h.Function, "JSON_") {
		return kasoku.Fix{Text: "Keep the value at this path of " + h.Column + " in a generated column, " +
			"index that, and compare it",
			Where: "the schema, and where the statement is made", Risk: kasoku.RiskAppRestart,
			Note: "A column GENERATED ALWAYS AS (the expression of the statement) VIRTUAL, of the type that the value has, " +
				"which the schema does not say; text compares with case in JSON, and as its collation says in a column."}
	}
	if code, err := d.FreeColumn(text, h); err == nil {
		f := kasoku.Fix{Text: "Compare the column itself", Where: "where the statement is made, and the schema",
			Lang: "sql", Code: code, Note: freedNote(h) + " Not checked: whether the server uses the index.",
			Risk: kasoku.RiskAppRestart}
		if !s.indexed(h.Column) {
			_, do, _ := indexes.IndexOn(s.read.Table, h.Column)
			f.Code = do + ";\n" + code
		}
		return f
	}
	if call, err := d.FunctionText(text, h); err == nil && isSteady(h) {
		if d.IndexesFunctions() {
			name := indexes.FreeIndexName(s.read.Table, s.read.Table.Name+"_"+h.Column+"_"+strings.ToLower(h.Function))
			do := "CREATE INDEX " + indexes.QuoteName(name) + " ON " + indexes.QuoteName(s.read.Table.Name) + " ((" + call +
				"))"
			return kasoku.Fix{Text: "Index the function; the statement stays as it is",
				Where: "the live database, and the file from which tables are made",
				Lang:  "sql", Code: do + ";", Risk: kasoku.RiskNone,
				Note: "Not checked: the server was not asked whether it uses it; `kasoku try` does.",
				Edits: []kasoku.Edit{{Kind: kasoku.EditIndex, Do: do, Undo: "DROP INDEX " + indexes.QuoteName(name) + " ON " +
					indexes.QuoteName(s.read.Table.Name)}}}
		}
		if f, ok := s.generated(d, text, call); ok {
			return f
		}
	}
	return kasoku.Fix{Text: "Compare the column itself, or keep what the function gives in a column of its own",
		Risk:  kasoku.RiskAppRestart,
		Where: "where the statement is made", Note: "An index serves a column that stands alone on its side of the " +
			"comparison: a range of it, or a generated column that has the function's value."}
}

// freedNote says why the answers are the same.
func freedNote(h indexes.Hidden) string {
	switch h.Function {
	case "YEAR":
		return "Same answers, for years of four digits; a year that is compared by = is sent twice."
	case "DATE":
		if h.Type == "date" {
			return "Same answers: the column is a date."
		}
		return "Same answers where what is sent is a day, without a time of day; one that is compared by = is sent twice."
	}
	return "Same answers: " + h.Collate + " compares without case."
}

// isSteady reports whether an index can have a function: its result depends on the column
// alone, whose type the definition says.
func isSteady(h indexes.Hidden) bool {
	return kindOfResult(h) != ""
}

// mostIndexed is how many characters an index can have of what a function gives: 3,072 bytes of
// utf8mb4. No index has a TEXT whole.
const mostIndexed = 768

// kindOfResult returns the type of what a function gives, empty where it is not known.
func kindOfResult(h indexes.Hidden) string {
	switch h.Function {
	case "LOWER", "UPPER", "LCASE", "UCASE", "TRIM", "LTRIM", "RTRIM", "REVERSE":
		if _, length, ok := strings.Cut(strings.TrimSuffix(h.Type, ")"), "char("); ok {
			if n, err := strconv.Atoi(length); err == nil && n <= mostIndexed {
				return strings.ToUpper(h.Type)
			}
		}
	case "CHAR_LENGTH", "LENGTH":
		if isText(h.Type) {
			return "INT"
		}
	case "YEAR", "MONTH", "DAY", "DAYOFMONTH", "DAYOFYEAR", "DAYOFWEEK", "WEEKDAY", "QUARTER":
		if h.Type == "date" || h.Type == "datetime" {
			return "INT"
		}
	case "HOUR", "MINUTE":
		if h.Type == "datetime" {
			return "INT"
		}
	case "DATE":
		if h.Type == "datetime" {
			return "DATE"
		}
	}
	return ""
}

// generated is a column that has what the function gives, with an index, and the statement
// that asks for it.
func (s *scan) generated(d rewrite.Dialect, text, call string) (kasoku.Fix, bool) {
	h, t := s.hidden[0], s.read.Table
	column := strings.ToLower(h.Column + "_" + h.Function)
	for strings.Contains(strings.ToLower(t.Create), "`"+column+"`") {
		column += "_"
	}
	code, err := d.NameColumn(text, h, column)
	if err != nil {
		return kasoku.Fix{}, false
	}
	kind := kindOfResult(h)
	if h.Collate != "" && strings.Contains(kind, "CHAR") {
		kind += " COLLATE " + h.Collate
	}
	hidden := ""
	note := "SELECT * gets one more column."
	if d.HidesColumns() {
		hidden, note = " INVISIBLE", "SELECT * leaves the column out."
	}
	_, do, _ := indexes.IndexOn(t, column)
	return kasoku.Fix{Text: "Keep what the function gives in a generated column, and compare that", Lang: "sql",
		Risk:  kasoku.RiskAppRestart,
		Where: "the schema, and where the statement is made",
		Code: "ALTER TABLE " + indexes.QuoteName(t.Name) + " ADD COLUMN " + indexes.QuoteName(column) + " " + kind +
			" GENERATED ALWAYS AS (" + call + ") VIRTUAL" + hidden + ";\n" + do + ";\n" + code,
		Note: "Same answers. " + note + " Not checked: whether the server uses the index."}, true
}
