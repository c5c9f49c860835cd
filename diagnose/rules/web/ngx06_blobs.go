package web

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Blobs is the rule NGX-06.
type Blobs struct{}

// Thresholds of NGX-06.
const (
	blobBytes = 4 << 10
	// changedAnswers of an endpoint's may have another size than the one before of the
	// same URI: a file may be replaced while it is measured.
	changedAnswers = 0.02
	// alikeBytes is how far bytes a call of a statement may be from those of an answer.
	alikeBytes = 0.25
)

// ID returns NGX-06.
func (Blobs) ID() string { return "NGX-06" }

// Doc describes the rule.
func (Blobs) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds images and other files that are kept in the database and go through the
			application.`,
		Evidence: `an endpoint's answers have at least 4 kB on average and one size for each URI, they
			come from the application, and a SELECT of which the endpoint is a caller, or that sends as many
			bytes a call, reads a column of BLOBs or sends at least 4 kB a call. Where the path has an extension
			and the endpoint is known to run it, other endpoints may run it, too.`,
		Cause: `each request reads the bytes from the database's pages, sends them to the application, and
			from there through nginx to the client.`,
		Fix: `files on disk; the application only says who may see them, and nginx sends them
			(X-Accel-Redirect), with an age for what never changes.`,
		Silent: `when answers are small or change, and when no statement reads such bytes; blind without
			an access log that says what was passed on, and without statements.`,
	}
}

// Check looks for answers that a statement reads whole.
func (r Blobs) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	endpoints, _, _, err := webserver.FrontEndpoints(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if !c.Lines().HasSlowLog() {
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("slowlog")))
	}
	near, name := 0.0, ""
	var read []files
	for i := range endpoints {
		e := &endpoints[i]
		if e.Method != "GET" || !webserver.IsPassed(e) || e.Codes[200] < fewStatic {
			continue
		}
		mean := float64(e.Bytes) / float64(e.Codes[200])
		if constant := 1 - webserver.Ratio(float64(e.Varied), float64(e.Codes[200])); constant < 1-changedAnswers ||
			webserver.Ratio(float64(e.Variants), float64(e.Codes[200])) > 1 {
			continue
		}
		q := blobQuery(c, e, mean)
		if q == nil {
			continue
		}
		if mean < blobBytes {
			if n := mean / blobBytes; n > near {
				near, name = n, webserver.EndpointName(e)
			}
			continue
		}
		if at := slices.IndexFunc(read, func(f files) bool { return f.query == q }); at >= 0 {
			read[at].endpoints = append(read[at].endpoints, e)
		} else {
			read = append(read, files{q, []*kasoku.Endpoint{e}})
		}
	}
	var out []kasoku.Finding
	for _, f := range read {
		out = append(out, r.finding(c, f))
	}
	if len(out) > 0 {
		return out, nil
	}
	if name != "" {
		return nil, diagnose.Quiet(r.ID(), near,
			"answers of %s that a statement reads whole have less than %s on average", name, unit.Bytes(blobBytes))
	}
	return nil, diagnose.Quiet(r.ID(), 0, "no endpoint's large answers that stay the same are read from the database")
}

// files are what a statement reads for endpoints, the one of most time first.
type files struct {
	query     *kasoku.Query
	endpoints []*kasoku.Endpoint
}

// blobQuery returns the statement that reads the endpoint's answers.
func blobQuery(c *diagnose.Case, e *kasoku.Endpoint, mean float64) *kasoku.Query {
	var best *kasoku.Query
	for i := range c.Queries {
		q := &c.Queries[i]
		if q.Verb != "SELECT" || q.Calls == 0 {
			continue
		}
		calls := c.Statements().CallersOf(q.ID)
		called := slices.ContainsFunc(calls, func(x kasoku.Caller) bool { return x.Endpoint() == webserver.EndpointName(e) })
		perCall := float64(q.BytesSent) / float64(q.Calls)
		alike := perCall >= (1-alikeBytes)*mean && perCall <= (1+alikeBytes)*mean+512
		blob := readsBlob(c, q)
		switch {
		case q.BytesSent > 0 && !alike && !(blob && readsForFile(calls, e)), len(calls) > 0 && !called, !blob && (len(c.Tables) > 0 || !alike || !called):
			continue
		}
		if best == nil || q.BytesSent > best.BytesSent {
			best = q
		}
	}
	return best
}

// readsForFile reports whether an endpoint that is called as files are is known to run a statement: of one that
// several run, such as for pictures of each kind, the bytes a call are those of none of them.
func readsForFile(calls []kasoku.Caller, e *kasoku.Endpoint) bool {
	file, _, _ := strings.Cut(e.Route, "?")
	return path.Ext(file) != "" && slices.ContainsFunc(calls, func(x kasoku.Caller) bool {
		return x.Endpoint() == webserver.EndpointName(e) && (x.Class == kasoku.CallerConfirmed || x.Class == kasoku.CallerHigh)
	})
}

// readsBlob reports whether a statement reads a column of BLOBs, by the tables'
// definitions.
func readsBlob(c *diagnose.Case, q *kasoku.Query) bool {
	for i := range c.Tables {
		t := &c.Tables[i]
		if !slices.ContainsFunc(q.Tables,
			func(name string) bool { return strings.EqualFold(name[strings.LastIndex(name, ".")+1:], t.Name) }) {
			continue
		}
		for line := range strings.Lines(t.Create) {
			column, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "`"), "`")
			if ok && wording.ContainsFold(strings.SplitN(strings.TrimSpace(rest), " ", 2)[0], "blob", "binary") {
				if list, _, _ := strings.Cut(strings.ToLower(q.Fingerprint), " from "); strings.Contains(list, "*") ||
					wording.ContainsWord(list, strings.ToLower(column)) {
					return true
				}
			}
		}
	}
	return false
}

func (r Blobs) finding(c *diagnose.Case, f files) kasoku.Finding {
	q, e := f.query, f.endpoints[0]
	blob := diagnose.Signal{Holds: readsBlob(c, q), Lacks: "no table's definition shows a column of BLOBs"}
	if len(c.Tables) == 0 {
		blob.Blind = "tables were not recorded"
	}
	joined := diagnose.Signal{Lacks: "which endpoint runs the statement is not known"}
	for _, x := range c.Statements().CallersOf(q.ID) {
		joined.Holds = joined.Holds || x.Endpoint() == webserver.EndpointName(e)
	}
	var names []string
	var quotes []kasoku.Evidence
	var took time.Duration
	var count, ok, bytes, paths uint64
	for i, e := range f.endpoints {
		names, took = append(names, webserver.EndpointName(e)), took+e.Upstream
		count, ok, bytes, paths = count+e.Count, ok+e.Codes[200], bytes+e.Bytes, paths+e.Paths
		if i < 4 {
			quotes = append(quotes, webserver.RequestCount(c, e))
		}
	}
	impact, mean := webserver.SavedTime(c, took, true), float64(bytes)/float64(ok)
	quotes = append(quotes, kasoku.Evidence{
		Source: "access", Text: "bytes of an answer", Note: "one size for each of " + unit.Count(paths) + " URIs",
		Value: unit.Bytes(uint64(mean)), Number: mean, Strong: true, Interval: c.Whole(),
	})
	answers := "answers"
	if len(names) > 1 {
		answers = "answer"
	}
	value := unit.Count(q.Calls) + " calls"
	if q.BytesSent > 0 {
		value = unit.Bytes(q.BytesSent/q.Calls) + " a call"
	}
	quotes = append(quotes, evidence.Statement(c, q, value, "", float64(q.BytesSent)/float64(q.Calls)))
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: webserver.EndpointName(e)},
		Title:    "Files come from the database through the application",
		Severity: evidence.SeverityOf(impact.Share), Impact: impact, Evidence: quotes,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, blob, joined),
		Cause: fmt.Sprintf("%s %s with %s on average, the same each time for a URI. A statement reads these bytes "+
			"from the database for each of %s requests, and the application copies them.",
			wording.List(names, 4), answers, unit.Bytes(uint64(mean)), unit.Count(count)),
		Fixes: []kasoku.Fix{{
			Text:  "Keep them as files, and let nginx send them after the application has said yes",
			Where: "the handler, and nginx.conf", Risk: kasoku.RiskAppRestart, Lang: "nginx",
			Code: webserver.Block("server", webserver.Block("location /kept-files/", "internal;", "alias /var/lib/kept-files/;")),
			Note: "Make the directory, for the application to write and for nginx to read. Write the file when it is " +
				"uploaded, for rows that are there in initialize. The handler answers without a body and with the header " +
				"X-Accel-Redirect: /kept-files/ and the file's name. In a contest the score may fall at first, as less is sent by what was the limit.",
		}},
		Expect: "the statement is gone, and most of these requests' time",
		Verify: "repeat the load: the database sends fewer bytes", Interval: c.Whole(),
	}
}
