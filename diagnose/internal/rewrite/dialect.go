package rewrite

import (
	"errors"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Dialect is how the server at hand reads SQL, and what it can do.
type Dialect struct {
	mode      string // sql_mode, in upper case
	windows   bool   // functions over windows
	invisible bool   // columns that SELECT * leaves out
	functions bool   // indexes of them
	hides     string // the word for an index that statements do not use; empty without one
	shows     string // and for one that they use again
}

// DialectOf reads the settings of a recording. A server that says nothing is taken for
// one of today, as it is installed.
func DialectOf(rec *kasoku.Recording) Dialect {
	mode, _ := rec.Setting("mysql", "sql_mode")
	version, known := rec.Setting("mysql", "version")
	comment, _ := rec.Setting("mysql", "version_comment")
	d := Dialect{mode: strings.ToUpper(mode), windows: true, invisible: true}
	if known {
		since := func(mariadb, mysql int) bool {
			if strings.Contains(strings.ToLower(version+comment), "mariadb") {
				return numberOf(version) >= mariadb
			}
			return numberOf(version) >= mysql
		}
		d.windows, d.invisible = since(100200, 80000), since(100300, 80023)
		d.functions = since(never, 80013)
		if since(100600, never) {
			d.hides, d.shows = "IGNORED", "NOT IGNORED"
		} else if since(never, 80000) {
			d.hides, d.shows = "INVISIBLE", "VISIBLE"
		}
	}
	return d
}

// never is later than any version.
const never = 1 << 30

// IndexesFunctions reports whether the server has indexes of functions; false where it does
// not say which it is.
func (d Dialect) IndexesFunctions() bool { return d.functions }

// HidesColumns reports whether the server has columns that SELECT * leaves out.
func (d Dialect) HidesColumns() bool { return d.invisible }

// HideIndex returns the statement after which no statement uses an index, and the one that
// takes it back; nothing where the server has none, or does not say which it is. The names
// are quoted.
func (d Dialect) HideIndex(table, index string) (do, undo string) {
	if d.hides == "" {
		return "", ""
	}
	alter := "ALTER TABLE " + table + " ALTER INDEX " + index + " "
	return alter + d.hides, alter + d.shows
}

// numberOf writes a version as one number, 8.0.23 as 80023.
func numberOf(version string) (n int) {
	var parts [3]int
	for i, p := range strings.SplitN(version, ".", 3) {
		digits, _, _ := strings.Cut(p, "-")
		parts[i], _ = strconv.Atoi(digits)
	}
	return parts[0]*10000 + parts[1]*100 + parts[2]
}

var (
	errMode = errors.New("the server reads SQL in a mode (sql_mode) in which it may mean something else")
	errPipe = errors.New("|| means OR or CONCAT, as the session's sql_mode says")
	errCut  = errors.New("its text was not kept whole")
)

// otherModes are those in which a text means something other than the grammar reads:
// quoted names, || that joins strings, NOT that binds as !, Oracle's own language.
var otherModes = []string{"ANSI", "PIPES_AS_CONCAT", "HIGH_NOT_PRECEDENCE", "ORACLE"}

// check refuses a text that the server may read in another way than the grammar does.
func (d Dialect) check(text string) error {
	for _, m := range otherModes {
		if strings.Contains(d.mode, m) { // ANSI is that of ANSI_QUOTES too
			return errMode
		}
	}
	switch {
	case strings.Contains(text, "||"): // sessions have modes of their own
		return errPipe
	case strings.HasSuffix(text, "…"):
		return errCut
	}
	return nil
}
