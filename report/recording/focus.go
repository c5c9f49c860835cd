package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/findings"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/statements"
)

// Focus returns what a run knows of one of its endpoints or classes of statements, named by the key of a row: the
// statements that the endpoint runs, or the endpoints that run the statement, with plans, indexes and findings.
// It is nil where the run has nothing of that name.
func Focus(run *kasoku.Recording, key string, o report.Options) *report.Document {
	of, ok := focusOn(run, key)
	if !ok {
		return nil
	}
	r := recorded.Of(of.rec, o)
	d := &report.Document{Kind: report.KindRun, Project: run.Run.Project, Name: recorded.Of(run,
		o).Name() + " · " + of.title,
		File: o.File, Title: of.title}
	d.Fill("verdict", func() { d.Verdict = of.verdict(run) })
	d.PutSection(o, "callers", func() report.Section { return statements.CallersSection(r) })
	d.PutSection(o, "queries", func() report.Section { return statements.QueriesSection(r) })
	d.PutSection(o, "findings", func() report.Section {
		if len(of.rec.Diagnosis.Findings) == 0 {
			return report.Section{ID: report.SectionFindings}
		}
		s := findings.Section(r)
		s.Sub = "Those that name it, its statements or their tables."
		numbered(s, run)
		return s
	})
	d.PutSection(o, "plans", func() report.Section { return statements.PlansSection(r) })
	d.PutSection(o, "tables", func() report.Section { return statements.TablesSection(r) })
	d.PutSection(o, "endpoints", func() report.Section { return EndpointsSection(r) })
	for i := range d.Sections { // they stand beside those of the whole run
		d.Sections[i].ID = "focus-" + d.Sections[i].ID
	}
	return d
}

// numbered gives findings the numbers that they have in the whole run.
func numbered(s report.Section, run *kasoku.Recording) {
	if run.Diagnosis == nil {
		return
	}
	place := map[string]int{}
	for i := range run.Diagnosis.Findings {
		place[findings.Key(&run.Diagnosis.Findings[i])] = i + 1
	}
	for _, b := range s.Blocks {
		if f, ok := b.(*report.Findings); ok {
			for i := range f.List {
				x := &f.List[i]
				x.Number = cmp.Or(place[x.Key], x.Number)
				x.Anchor = "f" + strconv.Itoa(x.Number)
			}
		}
	}
}

// A focus is a run with nothing in it but what belongs to one endpoint or class of statements.
type focus struct {
	title string
	rec   *kasoku.Recording
	words []string // by which findings name it

	statements []string // their fingerprints, which findings quote with other letters, and cut
}

// focusOn narrows a run to what a key names.
func focusOn(run *kasoku.Recording, key string) (focus, bool) {
	of := focus{rec: &kasoku.Recording{Run: run.Run, Logs: run.Logs, Settings: run.Settings, Service: run.Service,
		Diagnosis: &kasoku.Diagnosis{}}}
	var endpoint func(host, method, route string) bool
	var statement func(host, id string) bool
	switch kind, name, _ := strings.Cut(key, "="); kind {
	case "e":
		endpoint = func(host, method, route string) bool { return report.EndpointKey(host, method, route) == key }
		runs := map[string]bool{} // the statements of its requests; the hosts of a caller are the database's
		for _, c := range run.Callers {
			if strings.HasSuffix(name, " "+c.Endpoint()) || slices.ContainsFunc(c.With,
				func(w string) bool { return strings.HasSuffix(name, " "+w) }) {
				of.rec.Callers = append(of.rec.Callers, c)
				runs[report.StatementKey(c.Host, c.QueryID)] = true
			}
		}
		statement = func(host, id string) bool { return runs[report.StatementKey(host, id)] }
		_, of.title, _ = strings.Cut(name, " ")
		of.words = append(of.words, of.title)
	case "q":
		statement = func(host, id string) bool { return report.StatementKey(host, id) == key }
		ran := map[string]bool{}
		for _, c := range run.Callers {
			if statement(c.Host, c.QueryID) {
				of.rec.Callers = append(of.rec.Callers, c)
				ran[c.Endpoint()] = true
			}
		}
		endpoint = func(_, method, route string) bool { return ran[method+" "+route] }
	default:
		return of, false
	}
	return of, of.fill(run, endpoint, statement) && of.named(key)
}

// fill takes over what is of the endpoints and statements, and reports whether that is anything.
func (of *focus) fill(run *kasoku.Recording, endpoint func(host, method, route string) bool,
	statement func(host, id string) bool) bool {
	for _, e := range run.Endpoints {
		if endpoint(e.Host, e.Method, e.Route) {
			of.rec.Endpoints = append(of.rec.Endpoints, e)
		}
	}
	tables := map[string]bool{}
	for _, q := range run.Queries {
		if statement(q.Host, q.ID) {
			of.rec.Queries = append(of.rec.Queries, q)
			of.words = append(of.words, q.ID)
			of.statements = append(of.statements, strings.ToLower(q.Fingerprint))
			for _, t := range q.Tables {
				tables[bare(t)] = true
			}
		}
	}
	for _, p := range run.Plans {
		if statement(p.Host, p.QueryID) {
			of.rec.Plans = append(of.rec.Plans, p)
		}
	}
	for _, t := range run.Tables {
		if tables[t.Name] {
			of.rec.Tables = append(of.rec.Tables, t)
		}
	}
	if g := run.Diagnosis; g != nil {
		of.rec.Diagnosis.Rules = g.Rules
		for _, f := range g.Findings {
			if of.isNamedBy(&f, tables) {
				of.rec.Diagnosis.Findings = append(of.rec.Diagnosis.Findings, f)
			}
		}
	}
	return len(of.rec.Endpoints) > 0 || len(of.rec.Queries) > 0
}

// named makes sure that it has a title: of a statement its fingerprint.
func (of *focus) named(key string) bool {
	if of.title == "" && len(of.rec.Queries) > 0 {
		of.title = of.rec.Queries[0].Fingerprint
	}
	if strings.HasPrefix(key, "e=") {
		return len(of.rec.Endpoints) > 0
	}
	return len(of.rec.Queries) > 0
}

// bare takes schema and quotes off a table's name.
func bare(table string) string {
	if i := strings.LastIndexByte(table, '.'); i >= 0 {
		table = table[i+1:]
	}
	return strings.Trim(table, "`\"")
}

// isNamedBy reports whether a finding is of it: its object is one of the tables, or it quotes endpoint or statement.
func (of *focus) isNamedBy(f *kasoku.Finding, tables map[string]bool) bool {
	if f.Object.Kind == "table" && tables[bare(f.Object.Name)] {
		return true
	}
	texts := []string{f.Object.Name, f.Title, f.Cause}
	for _, e := range f.Evidence {
		texts = append(texts, e.Text, e.Note)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(of.words, func(word string) bool { return quotes(text, word) }) ||
			slices.ContainsFunc(of.statements, func(fingerprint string) bool { return quotesStatement(text, fingerprint) })
	})
}

// quotes reports whether a text has the words and no longer ones: GET /users is not GET /users/:id, nor GET / GET /@me.
func quotes(text, words string) bool {
	for at := 0; words != ""; {
		i := strings.Index(text[at:], words)
		if i < 0 {
			return false
		}
		at += i + len(words)
		rest := strings.TrimLeft(text[at:], `.:,;)"'`)
		if rest == "" || rest[0] == ' ' || rest[0] == '\n' {
			return true
		}
	}
	return false
}

// leastQuoted is how much of a statement has to stand in a text that cuts it.
const leastQuoted = 20

// quotesStatement reports whether a text has a statement whole, or so much of it before it is cut.
func quotesStatement(text, fingerprint string) bool {
	text = strings.ToLower(text)
	if fingerprint != "" && quotes(text, fingerprint) {
		return true
	}
	begin, _, cut := strings.Cut(text, "…")
	return cut && len(begin) >= leastQuoted && strings.HasPrefix(fingerprint, begin)
}

// verdict says how much it was.
func (of *focus) verdict(run *kasoku.Recording) string {
	if len(of.rec.Endpoints) == 1 && strings.HasSuffix(of.title, of.rec.Endpoints[0].Route) {
		e := &of.rec.Endpoints[0]
		all := 0.0
		for i := range run.Endpoints {
			all += run.Endpoints[i].Total.Seconds()
		}
		text := fmt.Sprintf("%s: %s", of.title, unit.Counted(e.Count, "request", "requests"))
		if e.Latency.Count() > 0 {
			text += ", p99 " + unit.Duration(e.Latency.Quantile(0.99))
		}
		if all > 0 && e.Total > 0 {
			text += ", " + unit.Percent(e.Total.Seconds()/all) + " of request time"
		}
		return text + "."
	}
	if len(of.rec.Queries) > 0 {
		q, all := &of.rec.Queries[0], 0.0
		for i := range run.Queries {
			all += run.Queries[i].Total.Seconds()
		}
		return fmt.Sprintf("%s, %s in all, %s of statement time.", unit.Counted(q.Calls, "call", "calls"),
			unit.Duration(q.Total), unit.Percent(q.Total.Seconds()/max(all, 1e-9)))
	}
	return of.title
}
