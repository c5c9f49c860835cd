package index

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// LostIndex is the rule IDX-08.
type LostIndex struct{}

// ID returns IDX-08.
func (LostIndex) ID() string { return "IDX-08" }

// Doc describes the rule.
func (LostIndex) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds indexes that were there before an initialize and are gone after it.`,
		Evidence: `an index of the tables' definitions at the start of the run, or of a probe before
			initialize, that those after it lack. It is borne out when an initialize is among the run's
			phases, and when the slow log has a DROP TABLE or DROP INDEX of the table; any index counts.`,
		Cause: `the index was added by hand to the live database, and initialize makes the table anew from
			a schema file that does not have it.`,
		Fix: `put the index into the schema file, or let initialize empty the table instead of dropping
			it.`,
		Silent: `when every index is still there; blind when the tables' definitions were not recorded
			both before and after.`,
	}
}

var errNoSchemas = errors.New("the tables' definitions were not recorded before and after an initialize")

// lostIndexes are indexes of one table.
type lostIndexes struct {
	table string
	keys  []string // KEY `by_day` (`day`)
}

// Check compares the indexes before and after.
func (r LostIndex) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	pairs := indexSets(c)
	if len(pairs) == 0 {
		return nil, diagnose.Blind(r.ID(), errNoSchemas)
	}
	for _, p := range pairs {
		var found []kasoku.Finding
		for _, l := range p.lost() {
			found = append(found, r.finding(c, l))
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, diagnose.Quiet(r.ID(), 0, "%s", lookedForWords(pairs[0].before))
}

// lookedForWords describes how many indexes were looked for.
func lookedForWords(before map[string][]string) string {
	n := 0
	for _, keys := range before {
		n += len(keys)
	}
	return fmt.Sprintf("no index is gone, of %d in %d tables; primary keys do not count", n, len(before))
}

// keySets are the indexes of each table, primary keys left out, before and after.
type keySets struct{ before, after map[string][]string }

// lost returns the indexes that are gone or different. A table that is gone as a
// whole took along what its indexes were for.
func (p keySets) lost() (out []lostIndexes) {
	for _, table := range evidence.SortedKeys(p.before) {
		now, there := p.after[table]
		l := lostIndexes{table: table}
		for _, key := range p.before[table] {
			if there && !slices.Contains(now, key) {
				l.keys = append(l.keys, key)
			}
		}
		if len(l.keys) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// indexSets returns what was recorded: the definitions at the run's start and end,
// and the probes before it.
func indexSets(c *diagnose.Case) (out []keySets) {
	before, after := definedKeys(c, capture.KindSchema), definedKeys(c, capture.KindSchemaAfter)
	if len(before) > 0 && len(after) > 0 {
		out = append(out, keySets{before, after})
	}
	start, okStart := c.Probe(diagnose.AtStart)
	end, okEnd := c.Probe(diagnose.AfterInitialize)
	if okStart && okEnd {
		out = append(out, keySets{probedKeys(start), probedKeys(end)})
	}
	return out
}

// definedKeys returns the keys of each table whose definition was kept.
func definedKeys(c *diagnose.Case, kind string) map[string][]string {
	out := map[string][]string{}
	for i := range c.Configs {
		if t := &c.Configs[i]; t.Kind == kind && t.Text != "" {
			out[t.Name] = append(out[t.Name], keysOf(t.Text)...)
		}
	}
	return out
}

// keyLine is a line of SHOW CREATE TABLE that defines an index other than the
// primary key, without the options after its columns.
var keyLine = regexp.MustCompile("^  ((?:UNIQUE |FULLTEXT |SPATIAL )?KEY `.*\\)),?(?: [A-Z/].*)?$")

// keysOf returns the indexes in a table's definition.
func keysOf(create string) []string {
	var out []string
	for line := range strings.Lines(create) {
		line = strings.TrimSuffix(strings.TrimRight(line, "\r\n"), ",")
		// MySQL writes options between comments of a version: /*!80000 INVISIBLE */.
		line, _, _ = strings.Cut(line, " /*!")
		if m := keyLine.FindStringSubmatch(line); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}

// probedKeys returns the indexes of each table that a probe saw, as definitions.
func probedKeys(p diagnose.Probe) map[string][]string {
	out := map[string][]string{}
	for _, fact := range evidence.SortedKeys(p.Facts) {
		name, ok := strings.CutPrefix(fact, diagnose.FactIndex)
		dot := strings.LastIndex(name, ".")
		if !ok || dot < 0 {
			continue
		}
		table, index, columns := name[:dot], name[dot+1:], p.Facts[fact]
		if index == "PRIMARY" {
			out[table] = append(out[table], nil...) // a table without other keys is there too
			continue
		}
		kind := "KEY"
		if rest, unique := strings.CutPrefix(columns, "unique "); unique {
			kind, columns = "UNIQUE KEY", rest
		}
		out[table] = append(out[table], kind+" `"+index+"` "+columns)
	}
	return out
}

func (r LostIndex) finding(c *diagnose.Case, l lostIndexes) kasoku.Finding {
	names := indexNames(l.keys)
	title := fmt.Sprintf("Index %s is lost on initialize", wording.Cut(names[0], 30))
	if len(names) > 1 {
		title = fmt.Sprintf("%d indexes of %s are lost on initialize", len(names), wording.Cut(l.table, 24))
	}
	quotes := []kasoku.Evidence{}
	for _, key := range l.keys {
		quotes = append(quotes, kasoku.Evidence{Source: "schema", Text: wording.Cut(key, 120), Note: "of " + l.table,
			Value: "gone", Strong: true, Interval: c.Whole()})
	}
	initialized := diagnose.Signal{Holds: true}
	if p, ok := evidence.InitializeOf(c); ok {
		quotes = append(quotes, kasoku.Evidence{Source: "access", Text: "initialize", Note: p.Why,
			Value: "at " + c.Wall(p.Interval.From).Format("15:04:05"), Interval: p.Interval})
	} else if _, probed := c.Probe(diagnose.AfterInitialize); !probed {
		initialized = diagnose.Signal{Lacks: "no initialize was seen in the run"}
	}
	dropped, e := droppedBy(c, l.table)
	if e != nil {
		quotes = append(quotes, *e)
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: l.table}, Title: title, Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, initialized, dropped),
		Impact:     kasoku.Impact{Of: "of requests after an initialize"},
		Evidence:   quotes,
		Cause: fmt.Sprintf("%s %s in the database before initialize and not after it: initialize makes %s anew from a "+
			"schema file that lacks %s. Every benchmark begins with it, so it counts without the index.",
			strings.Join(quoteAll(names), ", "), isAre(len(names)), l.table, itThem(len(names))),
		Fixes: []kasoku.Fix{
			{Text: "Put the index into the schema file that initialize runs, inside CREATE TABLE",
				Where: "the schema file", Code: addedKeys(l.keys), Risk: kasoku.RiskNone, Lang: "sql"},
			{Text: "Or let initialize empty the table (TRUNCATE TABLE) instead of dropping it", Where: "the schema file, and " +
				"nowhere else", Note: "TRUNCATE deletes all rows, keeps the table with its indexes, and starts AUTO_INCREMENT anew.",
				Risk: kasoku.RiskSemantics},
		},
		Expect: "the same indexes before and after initialize",
		Verify: "`kasoku finalize` calls initialize and compares the indexes", Interval: c.Whole(),
	}
}

// droppedBy reports whether the slow log has a statement that dropped the table.
func droppedBy(c *diagnose.Case, table string) (diagnose.Signal, *kasoku.Evidence) {
	if !c.Lines().HasSlowLog() {
		return diagnose.Signal{Blind: "no slow log, so it is not known which statement dropped it"}, nil
	}
	_, name, _ := strings.Cut(table, ".")
	for i := range c.Queries {
		q := &c.Queries[i]
		// Only the name: a DROP TABLE is often written without its schema.
		if (q.Verb == "DROP" || q.Verb == "ALTER" && strings.Contains(q.Fingerprint, "drop ")) &&
			strings.Contains(q.Fingerprint, strings.ToLower(name)) {
			return diagnose.Signal{Holds: true}, &kasoku.Evidence{
				Source: c.StatementSource(q), Text: wording.Cut(q.Sample, 100), Value: fmt.Sprintf("× %d", q.Calls),
				Number: float64(q.Calls), Strong: true,
				Interval: kasoku.Interval{From: q.First, To: q.Last},
			}
		}
	}
	return diagnose.Signal{Lacks: "no DROP of the table in the slow log"}, nil
}

// indexNames returns the names in definitions such as KEY `by_day` (`day`).
func indexNames(keys []string) []string {
	var out []string
	for _, k := range keys {
		_, rest, _ := strings.Cut(k, "`")
		name, _, _ := strings.Cut(rest, "` ")
		out = append(out, strings.TrimSuffix(name, "`"))
	}
	return out
}

// addedKeys is the change of a CREATE TABLE that brings the keys back.
func addedKeys(keys []string) string { return "+  " + strings.Join(keys, ",\n+  ") + "," }

func quoteAll(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, "`"+n+"`")
	}
	return out
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func itThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
