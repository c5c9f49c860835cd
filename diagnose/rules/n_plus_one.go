package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// checkLoops is Check of the rules about lookups in loops: the loops that go by the
// rule's id, with what the rule says of them.
func checkLoops(c *diagnose.Case, id string, say func(rowLoop, *kasoku.Finding)) ([]kasoku.Finding, []kasoku.Silence) {
	if err := noStatements(c); err != nil {
		return nil, diagnose.Blind(id, err)
	}
	all, nearest := rowLoops(c)
	var out []kasoku.Finding
	for _, r := range all {
		if r.id == id {
			f := loopFinding(c, r)
			say(r, &f)
			out = append(out, f)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(all) > 0:
		return nil, diagnose.Quiet(id, 0, "lookups in a loop are of another kind: %s", all[0].id)
	}
	return nil, diagnose.Quiet(id, min(nearest/leastPerRequest, 0.99),
		"no lookup is known to run %d times in one request; the nearest, %s times", leastPerRequest, perWords(nearest))
}

// loopFinding is what all of these findings have in common.
func loopFinding(c *diagnose.Case, r rowLoop) kasoku.Finding {
	i := timeImpact(c, r.saved(c))
	i.Estimate = i.Estimate || r.between(c) > 0
	first := r.loops[0]
	object := kasoku.Object{Kind: "endpoint", Name: r.endpoint}
	if r.endpoint == "" {
		object = kasoku.Object{Kind: "table", Name: first.shape.table}
	}
	f := kasoku.Finding{
		ID: r.id, Object: object, Severity: r.severity(c, i), Impact: i, Interval: c.Focus.Interval,
		Confidence: diagnose.Confidence(loopSignals(r)...),
		Expect: fmt.Sprintf("%s statements a request fewer, and up to %s %s",
			perWords(max(r.perRequest(c)-float64(len(r.loops)), 1)), unit.Percent(i.Share), i.Of),
		Verify: "the next run: the lookup's calls fall to about one a request, or to none",
	}
	lists := map[*kasoku.Query]bool{}
	for _, l := range r.loops {
		f.Evidence = append(f.Evidence, lookupEvidence(c, l))
		if l.list != nil && !lists[l.list] {
			lists[l.list] = true
			e := statementEvidence(l.list, unit.Sig3(rowsPerCall(l.list))+" rows a call",
				"its rows are looked up one by one", rowsPerCall(l.list))
			f.Evidence = append(f.Evidence, e)
		}
	}
	f.Evidence = append(f.Evidence, timeEvidence(c, r.spent(c), i))
	f.Evidence = append(f.Evidence, endpointEvidence(c, r.endpoint)...)
	return f
}

func lookupEvidence(c *diagnose.Case, l looped) kasoku.Evidence {
	note := "N+1 loop seen on a connection, endpoint unknown"
	if l.caller != nil {
		note = callerWords(l.caller)
	}
	return statementEvidence(l.query, "× "+perWords(l.per(c))+" a request", note, l.per(c))
}

func loopSignals(r rowLoop) []diagnose.Signal {
	l := r.loops[0]
	return []diagnose.Signal{
		{Holds: true},
		callerSignal(l.caller),
		{Holds: l.list != nil, Lacks: "no statement sends as many rows as are looked up"},
		{Holds: l.row, Lacks: "they do not come one after another on one connection"},
	}
}

// loopTitle names the endpoint, what it does, and how often in one request.
func loopTitle(c *diagnose.Case, r rowLoop, does string) string {
	if r.endpoint == "" {
		return cut(fmt.Sprintf("A loop %s of %s", does, r.loops[0].shape.table), maxTitle)
	}
	return endpointTitle(r.endpoint, fmt.Sprintf(" %s: %s a request", does, perWords(r.perRequest(c))))
}

// who is the subject of a sentence about a loop.
func (r rowLoop) who() string {
	if r.endpoint == "" {
		return "An endpoint"
	}
	return r.endpoint
}

// rowsOf says where the looked-up rows come from.
func rowsOf(l looped) string {
	if l.list == nil {
		return "For each row that it has it runs one more SELECT"
	}
	return fmt.Sprintf("It reads rows of %s with one statement and runs one more SELECT for each of them",
		statementOf(l.list).table)
}

// inList is the lookup for many keys at once.
func inList(l looped) string {
	s := l.shape
	if len(s.keys) == 0 {
		return ""
	}
	key, choose, rest := s.keys[0], s.choose, ""
	if s.counts || s.sums {
		choose, rest = key+", "+choose, " GROUP BY "+key
	}
	more := ""
	for _, k := range s.keys[1:] {
		more += " AND " + k + " = ?"
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s IN (?, ?, …)%s%s", strings.TrimSpace(choose), s.table, key, more,
		rest)
}

// joined is the list with the looked-up table beside it.
func joined(l looped) string {
	if l.list == nil || len(l.shape.keys) == 0 || l.shape.counts || l.shape.sums {
		return ""
	}
	outer := statementOf(l.list)
	if outer.table == "" || outer.table == l.shape.table {
		return ""
	}
	key := l.shape.keys[0]
	if i := strings.LastIndex(key, "."); i >= 0 {
		key = key[i+1:]
	}
	return fmt.Sprintf("SELECT o.*, r.* FROM %s o JOIN %s r ON r.%s = o.…", outer.table, l.shape.table, key)
}

// batchFixes are how to get the rows of loops at once: with a join, or with a
// second statement for all keys.
func batchFixes(r rowLoop) []kasoku.Fix {
	var join, in []string
	for _, l := range r.loops {
		if s := joined(l); s != "" && !slices.Contains(join, s) {
			join = append(join, s+";")
		}
		if s := inList(l); s != "" {
			in = append(in, s+";")
		}
	}
	where := handlerOf(r.endpoint)
	var out []kasoku.Fix
	if len(in) > 0 {
		out = append(out, kasoku.Fix{Text: "Gather the keys of the list and look all of them up at once", Where: where,
			Lang: "sql", Code: strings.Join(in, "\n"),
			Note: "Then put the rows beside those of the list by their key in the program. In Go: sqlx.In, or one ? for each key.", Risk: kasoku.RiskAppRestart})
	}
	if len(join) > 0 {
		out = append(out, kasoku.Fix{Text: "Or let the list bring them along with a JOIN", Where: where, Lang: "sql",
			Code: strings.Join(join, "\n"), Risk: kasoku.RiskAppRestart})
	}
	if len(out) == 0 {
		out = append(out, kasoku.Fix{Text: "Fetch what the loop looks up with one statement before it", Where: where,
			Risk: kasoku.RiskAppRestart})
	}
	return out
}
