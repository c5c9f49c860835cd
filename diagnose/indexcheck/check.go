package indexcheck

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/mysql/scratch"
)

// Within bounds all of a check: MySQL takes most of it to make a data directory.
const Within = time.Minute

// Bounds of one check.
const (
	mostTables  = 12
	mostClasses = 60
	askWithin   = time.Second
)

// A checker is one check.
type checker struct {
	from   *mysql.Reader
	rec    *kasoku.Recording
	sent   map[class]string // statements as they were sent
	server *scratch.Server
	copied map[*kasoku.TableDef]scratch.Copied
	refuse map[string]string // why a table was not copied, by name
}

// A class of statements, as a run distinguishes them.
type class struct{ host, id, tag string }

// Check asks about the indexes that are proposed for a recording, and keeps the answers
// with its tables. The recording's queries are as the run keeps them, since later advice
// sees no more; those that were sent hold a statement of each class with its values.
func Check(ctx context.Context, from *mysql.Reader, rec *kasoku.Recording, sent []kasoku.Query) error {
	for i := range rec.Tables {
		rec.Tables[i].Checks = nil
	}
	advice, err := indexes.Propose(rec)
	if err != nil || len(advice.Proposals) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	c := &checker{from: from, rec: rec, sent: map[class]string{}, copied: map[*kasoku.TableDef]scratch.Copied{},
		refuse: map[string]string{}}
	for i := range sent {
		q := &sent[i]
		c.sent[class{q.Host, q.ID, q.Tag}] = q.Raw
	}
	if c.server, err = scratch.Start(ctx, from); err != nil {
		c.note(advice.Proposals, err.Error())
		return nil
	}
	err = c.ask(ctx, advice.Proposals)
	if end := c.server.Close(); err == nil {
		err = end
	}
	if err != nil {
		c.note(advice.Proposals, err.Error())
	}
	return nil
}

// note keeps why no proposal was checked.
func (c *checker) note(proposals []indexes.Proposal, why string) {
	why, _, _ = strings.Cut(why, "\n")
	for i := range proposals {
		if t := c.table(proposals[i].Host, proposals[i].Schema, proposals[i].Table); t != nil {
			t.Checks = slices.DeleteFunc(t.Checks, func(k kasoku.IndexCheck) bool { return k.DDL == proposals[i].DDL })
			t.Checks = append(t.Checks, kasoku.IndexCheck{DDL: proposals[i].DDL, Note: why})
		}
	}
}

func (c *checker) table(host, schema, name string) *kasoku.TableDef {
	for i := range c.rec.Tables {
		t := &c.rec.Tables[i]
		if t.Host == host && strings.EqualFold(t.Schema, schema) && strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

// A question is one class that is explained twice.
type question struct {
	query         *kasoku.Query
	text          string // the statement that is explained
	before, after kasoku.Plan
	note          string // why it was not asked
}

func (c *checker) ask(ctx context.Context, proposals []indexes.Proposal) error {
	asked := map[string]*question{}
	for i := range proposals {
		for _, s := range proposals[i].Serves {
			if asked[s.QueryID] == nil && len(asked) < mostClasses {
				asked[s.QueryID] = c.question(proposals[i].Host, s.QueryID)
			}
		}
	}
	if err := c.copyTables(ctx, proposals, asked); err != nil {
		return err
	}
	if err := c.explain(ctx, asked, func(q *question) *kasoku.Plan { return &q.before }); err != nil {
		return err
	}
	refused := map[int]string{}
	for i, p := range proposals {
		if why := c.refuse[strings.ToLower(p.Table)]; why != "" {
			refused[i] = why
		} else if err := c.server.Exec(ctx, p.Schema, p.DDL); err != nil {
			refused[i] = err.Error()
		}
	}
	for t := range c.copied {
		if err := c.server.Analyze(ctx, t.Schema, t.Name); err != nil {
			return err
		}
	}
	if err := c.explain(ctx, asked, func(q *question) *kasoku.Plan { return &q.after }); err != nil {
		return err
	}
	for i := range proposals {
		c.keep(&proposals[i], asked, refused[i])
	}
	return ctx.Err()
}

// question finds the statement of a class.
func (c *checker) question(host, id string) *question {
	for i := range c.rec.Queries {
		q := &c.rec.Queries[i]
		if q.ID != id || q.Host != host {
			continue
		}
		text := c.sent[class{q.Host, q.ID, q.Tag}]
		if text == "" {
			return &question{query: q, note: explain.NoSample}
		}
		if q.Verb != "SELECT" {
			reads, ok := explain.AsSelect(text)
			if !ok {
				return &question{query: q, note: explain.NoPlan}
			}
			text = reads
		}
		return &question{query: q, text: text}
	}
	return &question{note: explain.NoSample}
}

// copyTables copies the tables that the classes read.
func (c *checker) copyTables(ctx context.Context, proposals []indexes.Proposal, asked map[string]*question) error {
	for i := range proposals { // first, so that those of joins are left out where there are too many
		c.copyTable(ctx, proposals[i].Host, proposals[i].Schema, proposals[i].Table)
	}
	for _, q := range asked {
		if q.query == nil || q.note != "" {
			continue
		}
		for _, name := range q.query.Tables {
			schema := q.query.Schema
			if s, table, dotted := strings.Cut(name, "."); dotted {
				schema, name = s, table
			}
			if schema == "" && len(proposals) > 0 {
				schema = proposals[0].Schema
			}
			c.copyTable(ctx, q.query.Host, schema, name)
			if why := c.refuse[strings.ToLower(name)]; why != "" && q.note == "" {
				q.note = why
			}
		}
	}
	return ctx.Err()
}

func (c *checker) copyTable(ctx context.Context, host, schema, name string) {
	t := c.table(host, schema, name)
	key := strings.ToLower(name)
	if t == nil {
		c.refuse[key] = "the definition of " + name + " was not recorded"
		return
	}
	if _, done := c.copied[t]; done || c.refuse[key] != "" {
		return
	}
	if len(c.copied) >= mostTables {
		c.refuse[key] = fmt.Sprintf("more than %d tables are read", mostTables)
		return
	}
	def := mysql.TableDef{Schema: t.Schema, Name: t.Name, Create: t.Create, Engine: t.Engine, Rows: t.Rows, DataBytes: t.DataBytes}
	for _, i := range t.Indexes {
		def.Indexes = append(def.Indexes, mysql.IndexParts(i))
	}
	copied, err := c.server.Copy(ctx, c.from, def)
	if err != nil {
		c.refuse[key] = err.Error()
		return
	}
	c.copied[t] = copied
}

// explain asks for the plans of the classes.
func (c *checker) explain(ctx context.Context, asked map[string]*question, into func(*question) *kasoku.Plan) error {
	for _, q := range asked {
		if q.note != "" {
			continue
		}
		one := *q.query
		one.Raw, one.Verb = q.text, "SELECT"
		plans, _, err := explain.Queries(ctx, c.server.Connection(), []kasoku.Query{one},
			explain.Options{Schema: cmp.Or(one.Schema, c.schemaOf(q)), Limit: askWithin})
		if err != nil {
			return err
		}
		if len(plans) == 0 || len(plans[0].Rows) == 0 {
			q.note = "the private server does not explain it" // its error may quote values
			continue
		}
		*into(q) = plans[0]
	}
	return nil
}

// schemaOf is the schema of the tables of a class whose log does not name one.
func (c *checker) schemaOf(q *question) string {
	for t := range c.copied {
		if slices.ContainsFunc(q.query.Tables, func(n string) bool { return strings.EqualFold(n, t.Name) }) {
			return t.Schema
		}
	}
	return ""
}

// keep writes down what was learnt of a proposal.
func (c *checker) keep(p *indexes.Proposal, asked map[string]*question, refused string) {
	t := c.table(p.Host, p.Schema, p.Table)
	if t == nil {
		return
	}
	check := kasoku.IndexCheck{DDL: p.DDL, Server: c.name(), Rows: c.copied[t].Rows, Whole: c.copied[t].Whole, Note: refused}
	answered := false
	for _, s := range p.Serves {
		k := kasoku.CheckedClass{QueryID: s.QueryID, Note: fmt.Sprintf("more than %d classes", mostClasses)}
		if q := asked[s.QueryID]; q != nil {
			k = judge(p.Name, q)
			k.QueryID = s.QueryID
		}
		answered = answered || k.Note == ""
		check.Classes = append(check.Classes, k)
	}
	if !answered && check.Note == "" && len(check.Classes) > 0 {
		check.Note = check.Classes[0].Note
	}
	t.Checks = append(t.Checks, check)
}

func (c *checker) name() string {
	v := c.server.Connection().Version()
	return fmt.Sprintf("%s %d.%d.%d", c.server.Connection().Flavor(), v.Major, v.Minor, v.Patch)
}

// judge compares the plans of a class without and with an index.
func judge(index string, q *question) kasoku.CheckedClass {
	k := kasoku.CheckedClass{Note: q.note}
	if q.note != "" {
		return k
	}
	if !slices.ContainsFunc(q.before.Rows, func(r kasoku.PlanRow) bool { return r.Access != "" }) ||
		!slices.ContainsFunc(q.after.Rows, func(r kasoku.PlanRow) bool { return r.Access != "" }) {
		k.Note = "the copy has no row that it asks for"
		return k
	}
	k.Before, k.After = examined(q.before.Rows), examined(q.after.Rows)
	for _, r := range q.after.Rows {
		names := strings.FieldsFunc(r.Key, func(c rune) bool { return c == ',' || c == '|' })
		k.Used = k.Used || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, index) })
	}
	k.Helps = k.Used && (2*k.After <= k.Before || sorts(q.before.Rows) && !sorts(q.after.Rows))
	return k
}

// examined adds up the rows that the steps of a plan read: each as often as rows come from
// those before it.
func examined(rows []kasoku.PlanRow) uint64 {
	total, times, kind := 0.0, 1.0, ""
	for _, r := range rows {
		if r.Select != kind {
			times, kind = 1, r.Select
		}
		total += times * max(r.Rows, 0)
		share := 1.0
		if r.Filtered >= 0 {
			share = r.Filtered / 100
		}
		times *= max(r.Rows, 0) * share
	}
	return uint64(math.Round(min(total, 1e18)))
}

func sorts(rows []kasoku.PlanRow) bool {
	return slices.ContainsFunc(rows, func(r kasoku.PlanRow) bool {
		return strings.Contains(r.Extra, "filesort") || strings.Contains(r.Extra, "temporary")
	})
}
