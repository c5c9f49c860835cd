package explain

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Options configure what is asked. The zero value asks for the ten classes that took
// the most time.
type Options struct {
	Top      int           // classes of statements; 0: 10
	Schema   string        // default database of statements that name none
	Analyze  bool          // run the statements that only read, and report what it took
	Limit    time.Duration // of each question; 0: 5 s
	Hidden   bool          // plans may use indexes that are invisible, where the server has such
	Progress func(done, all int)
}

// What a plan says when there is none. Each begins a plan's note.
const (
	NoSample  = "no statement as it was sent: only one with its values masked was kept"
	NoPlan    = "an INSERT of values has no plan"
	Converted = "of the SELECT that finds the same rows: servers refuse to explain a statement that writes in a " +
		"read-only transaction"
)

// Queries explains the classes that took the most time, and reads the tables that
// their statements name. A statement that cannot be explained has a plan without
// rows whose note says why; an error is one of the connection or of the context,
// and what was learnt before it is returned with it.
func Queries(ctx context.Context, r *mysql.Reader, queries []kasoku.Query, o Options) ([]kasoku.Plan, []kasoku.TableDef, error) {
	top := pick(queries, cmp.Or(o.Top, 10))
	var plans []kasoku.Plan
	defs := tables{known: map[[2]string]bool{}}
	for i, q := range top {
		if o.Progress != nil {
			o.Progress(i, len(top))
		}
		schema := cmp.Or(q.Schema, o.Schema)
		var plan kasoku.Plan
		var err error
		if bug := contain.Run(planPart, func() { plan, err = one(ctx, r, q, schema, o) }); bug != nil {
			plan, err = kasoku.Plan{Note: bug.Error()}, nil
		}
		plan.Host, plan.QueryID, plan.Schema = q.Host, q.ID, schema
		plans = append(plans, plan)
		if err == nil {
			err = defs.contained(ctx, r, q, schema)
		}
		if err != nil {
			return plans, defs.all, err
		}
	}
	for _, q := range pick(queries, tablesOf) { // each table is read once
		if err := defs.contained(ctx, r, q, cmp.Or(q.Schema, o.Schema)); err != nil {
			return plans, defs.all, err
		}
	}
	return plans, defs.all, nil
}

// tablesOf is the number of classes of statements whose tables are read: advice about
// indexes weighs all statements, and tables are far fewer than those.
const tablesOf = 200

// pick returns the classes whose statements have plans, the one that took the most
// time first.
func pick(queries []kasoku.Query, most int) []*kasoku.Query {
	var out []*kasoku.Query
	for i := range queries {
		switch q := &queries[i]; q.Verb {
		case "SELECT", "UPDATE", "DELETE", "INSERT", "REPLACE":
			out = append(out, q)
		}
	}
	slices.SortStableFunc(out, func(a, b *kasoku.Query) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.ID, b.ID))
	})
	return out[:min(len(out), most)]
}

// one explains a class. An error is one that ends the asking.
func one(ctx context.Context, r *mysql.Reader, q *kasoku.Query, schema string, o Options) (kasoku.Plan, error) {
	if q.Raw == "" {
		return kasoku.Plan{Note: NoSample}, nil
	}
	statement, note := q.Raw, ""
	selects := sqlshape.Verb([]byte(q.Raw)) == "SELECT" // what the run says of it is a claim
	if !selects {
		reads, ok := AsSelect(q.Raw)
		if !ok {
			return kasoku.Plan{Note: NoPlan}, nil
		}
		statement, note = reads, Converted
	}
	text, locks, _ := sqlshape.PlainText([]byte(statement))
	said, err := mysql.Explain(ctx, r, mysql.Question{Schema: schema, Statement: string(text),
		Analyze: o.Analyze && selects && !locks, Limit: o.Limit, Hidden: o.Hidden})
	switch {
	case err == nil:
		note = strings.Join(slices.DeleteFunc([]string{note, said.Note}, func(s string) bool { return s == "" }), "; ")
		return kasoku.Plan{Format: said.Format, Text: said.Text, Rows: planRows(said.Steps), Note: note}, nil
	case refused(err):
		return kasoku.Plan{Note: err.Error()}, ctx.Err()
	}
	return kasoku.Plan{Note: err.Error()}, err
}

// refused reports whether an error is the server's answer to this statement alone.
func refused(err error) bool {
	return mysqlflags.ErrorNumber(err) != 0 || errors.Is(err, mysql.ErrUnexpected) || errors.Is(err, context.DeadlineExceeded)
}

// tables collects the definitions of tables, each once.
type tables struct {
	known map[[2]string]bool
	all   []kasoku.TableDef
}

// Parts whose panic is a plan's note, and a table that is left out.
var (
	planPart  = contain.Part{Kind: contain.Step, Name: "plan of a statement"}
	tablePart = contain.Part{Kind: contain.Step, Name: "tables of a statement"}
)

// contained is read; of tables that make it panic, the command reports the bug.
func (t *tables) contained(ctx context.Context, r *mysql.Reader, q *kasoku.Query, schema string) (err error) {
	_ = contain.Run(tablePart, func() { err = t.read(ctx, r, q, schema) })
	return err
}

// read reads the tables that the class names. One that is not there, or may not be
// seen, is left out.
func (t *tables) read(ctx context.Context, r *mysql.Reader, q *kasoku.Query, schema string) error {
	for _, name := range q.Tables {
		key := [2]string{schema, name}
		if from, table, dotted := strings.Cut(name, "."); dotted {
			key = [2]string{from, table}
		}
		if key[0] == "" || t.known[key] {
			continue
		}
		t.known[key] = true
		s := mysql.NewSchema(r)
		def, err := s.TableDef(ctx, key[0], key[1])
		switch {
		case err == nil:
			t.all = append(t.all, tableDef(q.Host, def))
			t.all[len(t.all)-1].Columns = sampleOf(ctx, s, def)
		case errors.Is(err, sql.ErrNoRows) || errors.Is(err, mysql.ErrUnexpected) || mysqlflags.ErrorNumber(err) != 0:
		default:
			return err
		}
	}
	return nil
}

// Bounds of looking at rows: tables that are read in no time need no index, and each may
// take so long; later advice then assumes what it was not shown.
const (
	sampledFrom = 200 // rows
	sampleLimit = 2 * time.Second
)

// sampleOf counts the values of the columns of a table, as far as the server lets it.
func sampleOf(ctx context.Context, s mysql.Schema, def mysql.TableDef) (out []kasoku.ColumnSample) {
	if def.Rows < sampledFrom || def.Engine == "" { // a view has no engine
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sampleLimit)
	defer cancel()
	samples, err := s.SampleColumns(ctx, def)
	if err != nil {
		return nil
	}
	for _, c := range samples {
		out = append(out, kasoku.ColumnSample(c))
	}
	return out
}

func tableDef(host string, d mysql.TableDef) kasoku.TableDef {
	out := kasoku.TableDef{Host: host, Schema: d.Schema, Name: d.Name, Create: d.Create, Engine: d.Engine,
		Rows: d.Rows, DataBytes: d.DataBytes, IndexBytes: d.IndexBytes}
	for _, i := range d.Indexes {
		out.Indexes = append(out.Indexes, kasoku.IndexDef(i))
	}
	return out
}

// AsSelect returns the SELECT that finds the rows which an UPDATE, DELETE, or
// INSERT … SELECT reads. ok is false when the statement reads none.
func AsSelect(statement string) (string, bool) {
	s := split(statement)
	switch s.verb {
	case "update":
		from, _ := s.between("", "set")
		rest, _ := s.clauses()
		return join("SELECT * FROM", from, rest), from != ""
	case "delete":
		from, ok := s.between("from", "")
		if at, known := s.at["from"]; known && strings.TrimSpace(statement[s.body:at.from]) == "" { // DELETE FROM a USING a JOIN b
			if using, known := s.between("using", ""); known {
				from = using
			}
		}
		return join("SELECT * FROM", from), ok && from != ""
	case "insert", "replace":
		for _, word := range []string{"with", "select"} {
			if at, ok := s.at[word]; ok {
				end := s.end()
				if on, ok := s.at["on duplicate"]; ok && on.from > at.from {
					end = on.from
				}
				return strings.TrimSpace(statement[at.from:end]), true
			}
		}
	}
	return "", false
}

func join(parts ...string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " "))
}
