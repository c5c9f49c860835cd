package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// SettingsRows is the rule QRY-10.
type SettingsRows struct{}

// Thresholds of QRY-10.
const (
	// fewSettings is how many different statements may ask for settings, and settingsPerRequest
	// how often each request asks at least, on average.
	fewSettings        = 5
	settingsPerRequest = 0.8
	// smallTable has as many rows as settings, languages or categories have at most.
	smallTable = 2000
	// ownRows is how many rows a table has at most whose rows by number are settings, and not
	// those of the one account of a load.
	ownRows = 5
	// oneEndpoint of the requests belongs to one endpoint: what it asks is its own affair.
	oneEndpoint = 0.6
	// changedCalls of a table for each read of it that say it is no table of settings.
	changedCalls = 0.01
)

// ID returns QRY-10.
func (SettingsRows) ID() string { return "QRY-10" }

// Doc describes the rule.
func (SettingsRows) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds rows that every request loads anew and that do not change: settings, languages, menus.`,
		Evidence: `a SELECT comes with at most 5 different values, four in five requests run it, of several
			endpoints, its tables have at most 2,000 rows and hardly change in the run; all such statements
			together take at least 2 % of the requests' time. A row by its number counts in tables of
			at most 5 rows alone: it may be the only account of a load.`,
		Cause: `the program has no memory between requests, or does not use it.`,
		Fix:   `keep the rows in the program for a while, in the language of the application.`,
		Silent: `when the tables are large or written, when one endpoint has most requests, when it takes little
			time, and blind without a slow log, the tables' definitions, requests, or the number of
			different statements.`,
	}
}

// Check looks for statements that every request runs.
func (r SettingsRows) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	requests, err := c.Requests(c.Whole())
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var found []*kasoku.Query
	var took time.Duration
	counted := false
	seen := map[string]bool{}
	for _, read := range advised.Reads() {
		q := c.Statements().QueryByID(read.QueryID)
		counted = counted || q != nil && q.Distinct > 0
		if q == nil || seen[q.ID] || !r.settings(c, q, read, float64(requests.Count)) {
			continue
		}
		seen[q.ID] = true
		found = append(found, q)
		took += c.Statements().QueryTime(q)
	}
	if !counted {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("how many different statements a class has was not counted"))
	}
	if len(found) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "no rows of a small table that does not change are read by four in five "+
			"requests")
	}
	impact := evidence.TimeImpact(c, took, found...)
	if impact.Share < evidence.SmallShare {
		return nil, diagnose.Quiet(r.ID(), impact.Share/evidence.SmallShare,
			"rows of %s that do not change are read by each request, and take %s %s; the threshold is %s",
			wording.List(found[0].Tables, 3), unit.Percent(impact.Share), impact.Of, unit.Percent(evidence.SmallShare))
	}
	return []kasoku.Finding{r.finding(c, found, took, impact, requests)}, nil
}

// settings reports whether a class reads rows that are the same for all requests.
func (SettingsRows) settings(c *diagnose.Case, q *kasoku.Query, read indexes.Read, requests float64) bool {
	s := statements.Of(q)
	per := float64(q.Calls) / max(requests, 1)
	switch {
	case q.Verb != "SELECT" || s.Counts || s.Sums || s.Grouped || q.RowsSent == 0:
	case q.Distinct == 0 || q.Distinct > fewSettings || per < settingsPerRequest || evidence.OnlyInitialize(c, q):
	case len(q.Tables) > 1 || !read.Alone || read.Table.Rows > smallTable:
	case byNumber(read) && read.Table.Rows > ownRows:
	case float64(countChanges(c, q)) > changedCalls*float64(q.Calls):
	default:
		return ofSeveral(c, q, per)
	}
	return false
}

// byNumber reports whether one row is read by a key that the server counts up.
func byNumber(read indexes.Read) bool {
	if len(read.Unique) != 1 {
		return false
	}
	for line := range strings.Lines(read.Table.Create) {
		if strings.HasPrefix(strings.TrimSpace(line), "`"+read.Unique[0]+"` ") {
			return strings.Contains(line, "int")
		}
	}
	return false
}

// ofSeveral reports whether several endpoints run a class: their comments or a probe say so, or
// so many requests do that no endpoint has.
func ofSeveral(c *diagnose.Case, q *kasoku.Query, per float64) bool {
	callers := 0
	for _, x := range c.Statements().CallersOf(q.ID) {
		if x.Class == kasoku.CallerConfirmed || x.Class == kasoku.CallerHigh {
			callers++
		}
	}
	if callers > 0 {
		return callers > 1
	}
	_, endpoints := c.FrontLog()
	var most, all uint64
	for i := range endpoints {
		most, all = max(most, endpoints[i].Count), all+endpoints[i].Count
	}
	return all > 0 && float64(most) <= oneEndpoint*float64(all) && per <= 2-settingsPerRequest
}

func (r SettingsRows) finding(c *diagnose.Case, found []*kasoku.Query, took time.Duration, i kasoku.Impact,
	requests diagnose.Requests) kasoku.Finding {
	var quotes []kasoku.Evidence
	var tables []string
	var calls uint64
	for _, q := range found {
		calls += q.Calls
		tables = append(tables, statements.Of(q).Table)
		if len(quotes) < advice.QuotedStatements {
			quotes = append(quotes, evidence.Statement(c, q, "× "+unit.Count(q.Calls),
				fmt.Sprintf("%s, %s rows a call, of %s requests", unit.Counted(q.Distinct, "different statement",
					"different statements"), wording.Average(statements.RowsPerCall(q)), unit.Count(requests.Count)),
				float64(q.Calls)))
		}
	}
	i.Estimate = true
	quotes = append(quotes, kasoku.Evidence{Source: c.StatementSource(found...), Text: "writes to these tables",
		Value: "× " + unit.Count(r.changes(c, found)), Number: float64(r.changes(c, found)), Strong: true,
		Interval: c.Whole()}, evidence.StatementTime(c, took, i, found...))
	fix := language.Pick(c, keepRows)
	fix.Text, fix.Risk = "Keep the rows in the program for a while", kasoku.RiskSemantics
	fix.Note = strings.TrimSpace(fix.Note + " May they be 10 s old? Where the program changes them itself, drop what " +
		"is kept then, " +
		"in each process; initialize too.")
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: tables[0]}, Severity: evidence.StatementSeverity(i),
		Impact:   i,
		Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("Each request loads rows of %s that do not change", wording.List(tables, 2)),
			wording.MaxTitle),
		Clause: fmt.Sprintf("each request loads rows of %s that do not change", wording.List(tables, 2)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "what changes the rows at other times was not seen"}),
		Evidence: quotes,
		Cause: fmt.Sprintf("%s requests sent %s statements for rows of %s, the same each time: the tables were written "+
			"%s times.",
			unit.Count(requests.Count), unit.Count(calls), wording.List(tables, 4), unit.Count(r.changes(c, found))),
		Fixes:  []kasoku.Fix{fix},
		Expect: "the statements come once for each process and stretch of time, not for each request",
		Verify: "the next run: calls of the statements",
	}
}

// changes counts the writes to the tables of the classes.
func (SettingsRows) changes(c *diagnose.Case, found []*kasoku.Query) (n uint64) {
	for _, q := range found {
		n += countChanges(c, q)
	}
	return n
}

// keepRows is how rows are kept between requests, by library and language.
//
// Sources: PHP manual, APCu, apcu_entry; Django, "The low-level cache API"; Rails guide,
// "Caching with Rails".
var keepRows = map[string]kasoku.Fix{
	language.Go: {Where: "a variable of the package that reads the rows", Lang: "go",
		Code: "var settings struct {\n\tsync.Mutex\n\trows map[string]string\n\tread time.Time\n}\n\n" +
			"func currentSettings(ctx context.Context) (map[string]string, error) {\n\tsettings.Lock()\n\tdefer " +
			"settings.Unlock()\n" +
			"\tif time.Since(settings.read) < 10*time.Second {\n\t\treturn settings.rows, nil\n\t}\n" +
			"\trows, err := readSettings(ctx) // as before\n\tif err == nil {\n\t\tsettings.rows, settings.read = rows, " +
			"time.Now()\n\t}\n" +
			"\treturn rows, err\n}",
		Note: "The map is shared: nothing may write into it."},
	language.PHP: {Where: "where the rows are read", Lang: "php",
		Code: "$settings = apcu_entry('settings', fn() => read_settings($db), 10); // as before, kept for 10 s",
		Note: "PHP keeps nothing between requests but in APCu (the extension apcu), for all workers of one PHP-FPM."},
	language.Python: {Where: "the module that reads the rows", Lang: "python",
		Code: "_kept = (0.0, None)\n\ndef settings():\n    global _kept\n    if time.monotonic() - _kept[0] > 10:\n" +
			"        _kept = (time.monotonic(), read_settings())  # as before\n    return _kept[1]"},
	language.Django: {Where: "the module that reads the rows", Lang: "python",
		Code: "cache.get_or_set(\"settings\", read_settings, 10)  # read_settings as before", Note: "With a LocMemCache."},
	language.Rails: {Where: "where the rows are read", Lang: "ruby",
		Code: "Rails.cache.fetch(\"settings\", expires_in: 10.seconds) { read_settings.to_a }",
		Note: "With config.cache_store = :memory_store."},
	language.Ruby: {Where: "the file that reads the rows", Lang: "ruby",
		Code: "KEPT = { at: nil, rows: nil }\n\ndef settings\n  now = Process.clock_gettime(Process::CLOCK_MONOTONIC)\n" +
			"  if KEPT[:at].nil? || now - KEPT[:at] > 10\n    KEPT[:rows] = read_settings.to_a # as before\n" +
			"    KEPT[:at] = now\n  end\n  KEPT[:rows]\nend"},
	language.JavaScript: {Where: "the module that reads the rows", Lang: "javascript",
		Code: "let kept = { at: 0, rows: null };\nasync function settings() {\n  if (Date.now() - kept.at > 10_000) {\n" +
			"    kept = { at: Date.now(), rows: await readSettings() }; // as before\n  }\n  return kept.rows;\n}"},
	language.Java: {Where: "the class that reads the rows", Lang: "java",
		Code: "private Map<String, String> kept;\nprivate long readAt;\n\nsynchronized Map<String, String> settings() {\n" +
			"    if (kept == null || System.nanoTime() - readAt > 10_000_000_000L) {\n" +
			"        kept = Map.copyOf(readSettings()); // as before\n        readAt = System.nanoTime();\n    }\n" +
			"    return kept;\n}",
		Note: "Map.copyOf takes no null."},
	language.Unknown: {Where: "where the rows are read"},
}
