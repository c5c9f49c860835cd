package prepared

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Within bounds all that is asked of a server, and askWithin one question.
const (
	Within    = 5 * time.Second
	askWithin = time.Second
)

// Bounds of one check.
const (
	mostAsked   = 60 // statements
	mostSchemas = 3  // that a statement is tried in
)

// Words of a fix whose statements were looked at.
const (
	Accepted = "Prepared on the server: accepted."
	refused  = "The statement is left out: the server refuses it as kasoku would write it"
	open     = "Not checked on the server: "
)

// Answers of a server that are about the statement itself, whoever asks: its syntax, names that
// its tables do not have, forms that this version lacks. Others, such as those for want of
// rights, say nothing of it.
//
// Source: MySQL 9.7 Error Message Reference, "Server Error Message Reference"; MariaDB has the
// same numbers.
var againstStatement = []int{
	badSyntax,
	1052, // column is ambiguous
	badColumn,
	1066, // no unique table or alias
	1093, // the target table in FROM
	1111, // invalid use of a group function
	1222, // a different number of columns
	1235, // not yet supported
	1241, // operand should contain 1 column
	1248, // every derived table must have its own alias
}

// withoutRights are the answers to an account that may not do something.
var withoutRights = []int{1044, 1045, 1142, 1143, 1227, 1370}

// notThere are the answers that a database, or a table, is not there.
var notThere = []int{1046, 1049, 1146}

const (
	badSyntax = 1064
	badColumn = 1054
)

// Check asks about the SQL of all fixes of a recording's findings, and says in their notes what the
// server answered. Statements that name no schema are tried in the default one, which may be empty, and in
// those of the recording. A server that does not answer leaves the rest not checked.
func Check(ctx context.Context, r *mysql.Reader, rec *kasoku.Recording, schema string) {
	if rec.Diagnosis == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	c := checker{reader: r, known: map[string]error{}}
	c.schemas, c.all = schemasOf(rec, schema)
	for i := range rec.Diagnosis.Findings {
		f := &rec.Diagnosis.Findings[i]
		makes := slices.ContainsFunc(f.Fixes, func(x kasoku.Fix) bool { return makesColumns(x.Code) })
		for k := range f.Fixes {
			c.fix(ctx, &f.Fixes[k], makes)
		}
	}
}

// Keep takes what the server answered over into findings that rules made anew of the same run.
func Keep(before, now *kasoku.Diagnosis) {
	if before == nil || now == nil {
		return
	}
	type place struct {
		rule   string
		object kasoku.Object
		text   string
	}
	answered := map[place]*kasoku.Fix{}
	for i := range before.Findings {
		f := &before.Findings[i]
		for k := range f.Fixes {
			if x := &f.Fixes[k]; answerIn(x.Note) != "" {
				answered[place{f.ID, f.Object, x.Text}] = x
			}
		}
	}
	for i := range now.Findings {
		f := &now.Findings[i]
		for k := range f.Fixes {
			x := &f.Fixes[k]
			old := answered[place{f.ID, f.Object, x.Text}]
			switch {
			case old == nil || len(statementsOf(x)) == 0:
			case old.Code == "":
				leaveOut(x, answerIn(old.Note))
			case old.Code == x.Code:
				x.Note = withSentence(x.Note, answerIn(old.Note))
			}
		}
	}
}

// answerIn returns what a note says of the server's answer, which stands at its end.
func answerIn(note string) string {
	for _, words := range []string{Accepted, refused, open} {
		if i := strings.Index(note, words); i >= 0 {
			return note[i:]
		}
	}
	return ""
}

// leaveOut takes the SQL out of a fix, and says why.
func leaveOut(x *kasoku.Fix, why string) {
	x.Note = withSentence(x.Note, why)
	x.Code, x.Lang, x.Edits = "", "", nil
}

// Asks reports whether a fix of a recording's findings has SQL to ask about.
func Asks(rec *kasoku.Recording) bool {
	return rec.Diagnosis != nil && slices.ContainsFunc(rec.Diagnosis.Findings, func(f kasoku.Finding) bool {
		return slices.ContainsFunc(f.Fixes, func(x kasoku.Fix) bool { return len(statementsOf(&x)) > 0 })
	})
}

// NotAsked says in the notes of all fixes with SQL that the server could not be asked.
func NotAsked(rec *kasoku.Recording) {
	for i := range rec.Diagnosis.Findings {
		for k := range rec.Diagnosis.Findings[i].Fixes {
			if x := &rec.Diagnosis.Findings[i].Fixes[k]; len(statementsOf(x)) > 0 {
				x.Note = withSentence(x.Note, open+"it could not be asked.")
			}
		}
	}
}

// checker asks each statement once.
type checker struct {
	reader  *mysql.Reader
	schemas []string
	all     bool // these are all schemas of the recording's statements
	known   map[string]error
}

// schemasOf returns the schemas in which a statement may have its tables: the default one, then
// those whose statements took the most time. It reports whether that is all of them.
func schemasOf(rec *kasoku.Recording, first string) (names []string, all bool) {
	times := map[string]time.Duration{}
	for i := range rec.Queries {
		times[rec.Queries[i].Schema] += rec.Queries[i].Total
	}
	delete(times, "")
	delete(times, first)
	for name := range times {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	if first != "" {
		names = slices.Insert(names, 0, first)
	}
	all = len(names) <= mostSchemas
	return names[:min(mostSchemas, len(names))], all
}

// fix asks about the statements of one fix. Where the finding makes tables or columns that are not
// there yet, a name that the server does not know is no reason against it.
func (c *checker) fix(ctx context.Context, x *kasoku.Fix, makes bool) {
	statements := statementsOf(x)
	if len(statements) == 0 {
		return
	}
	var unknown error
	for _, s := range statements {
		err := c.ask(ctx, s)
		switch number := mysqlflags.ErrorNumber(err); {
		case err == nil:
		case slices.Contains(againstStatement, number) && (number == badSyntax || c.all && !makes):
			leaveOut(x, refused+" ("+firstLine(err)+").")
			return
		case unknown == nil:
			unknown = err
		}
	}
	if unknown != nil {
		why := firstLine(unknown)
		switch number := mysqlflags.ErrorNumber(unknown); {
		case slices.Contains(withoutRights, number):
			why = "kasoku's account may not read the tables"
		case makes && (number == badColumn || slices.Contains(notThere, number)):
			why = "it needs what another of these statements makes (" + why + ")"
		}
		x.Note = withSentence(x.Note, open+why+".")
		return
	}
	x.Note = withSentence(x.Note, Accepted)
}

var (
	errHole = errors.New("a column is for the program to fill in")
	errMany = errors.New("there were too many statements")
)

// ask returns nil where the server takes a statement in one of the schemas, else the answer of
// the most weight.
func (c *checker) ask(ctx context.Context, statement string) error {
	if err, asked := c.known[statement]; asked {
		return err
	}
	switch {
	case strings.Contains(statement, "…"):
		return errHole
	case len(c.known) >= mostAsked:
		return errMany
	}
	schemas := c.schemas
	if len(schemas) == 0 {
		schemas = []string{""}
	}
	var said error
	for _, schema := range schemas {
		err := mysql.Prepare(ctx, c.reader, schema, statement, askWithin)
		if said == nil || err == nil || weight(err) > weight(said) {
			said = err
		}
		if err == nil || mysqlflags.ErrorNumber(err) == badSyntax {
			break
		}
	}
	c.known[statement] = said
	return said
}

// weight orders what schemas answer: that a table is not there counts least, since it may be
// in another schema; most counts an answer that leaves open what the statement is there.
func weight(err error) int {
	switch number := mysqlflags.ErrorNumber(err); {
	case slices.Contains(notThere, number):
		return 0
	case slices.Contains(againstStatement, number):
		return 1
	}
	return 2
}

// asked are the verbs of statements that a server is asked about.
var asked = []string{"SELECT", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP"}

// statementsOf returns the statements that a fix proposes; none of code that is no SQL, and none of
// what only sets or shows something.
func statementsOf(x *kasoku.Fix) (out []string) {
	if x.Lang != "sql" {
		return nil
	}
	for part := range strings.SplitSeq(x.Code+"\n", ";\n") {
		part = strings.TrimSuffix(strings.TrimSpace(part), ";")
		if slices.Contains(asked, sqlshape.Verb([]byte(part))) {
			out = append(out, part)
		}
	}
	return out
}

// makesColumns reports whether code makes tables or columns.
func makesColumns(code string) bool {
	upper := strings.ToUpper(code)
	return strings.Contains(upper, "CREATE TABLE") || strings.Contains(upper, "ALTER TABLE")
}

func withSentence(note, sentence string) string { return strings.TrimSpace(note + " " + sentence) }

// mostAnswer bounds what is printed of an answer, in bytes: a server's own are no longer.
const mostAnswer = 600

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if len(line) > mostAnswer {
		line = strings.ToValidUTF8(line[:mostAnswer], "") + "…"
	}
	return strings.TrimSuffix(line, ".")
}
