package web

import (
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

// StaticFiles is the rule NGX-02.
type StaticFiles struct{}

// Thresholds of NGX-02.
const (
	staticShare = 0.01
	fewStatic   = 50
)

// ID returns NGX-02.
func (StaticFiles) ID() string { return "NGX-02" }

// Doc describes the rule.
func (StaticFiles) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds files that never change and yet come from the application.`,
		Evidence: `GETs of paths that end as files do (.css, .js, .html, .ico, images, fonts) were passed
			on by nginx, their answers have one size for each path, and they are at least 1 % of the requests,
			at least 50.`,
		Cause: `nginx passes everything on; the application reads and copies what nginx could send from
			the kernel's memory, and the browser asks again each time.`,
		Fix: `root and try_files for these paths, with an age after which to ask again.`,
		Silent: `when such requests are answered by nginx itself, or are few; blind without an access log
			that says which requests were passed on.`,
	}
}

// Check looks for files that are passed on.
func (r StaticFiles) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	endpoints, requests, _, err := webserver.FrontEndpoints(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var found []*kasoku.Endpoint
	var count uint64
	var took time.Duration
	for i := range endpoints {
		if e := &endpoints[i]; webserver.IsStatic(e) {
			found = append(found, e)
			count += e.UpstreamCount
			took += e.Upstream
		}
	}
	part := webserver.Ratio(float64(count), float64(requests))
	if count < fewStatic || part < staticShare {
		return nil, diagnose.Quiet(r.ID(), min(part/staticShare, float64(count)/fewStatic),
			"%s requests for files were passed on, %s of all; the threshold is %s and %d requests",
			unit.Count(count), unit.Percent(part), unit.Percent(staticShare), fewStatic)
	}
	slices.SortStableFunc(found, func(a, b *kasoku.Endpoint) int { return int(b.UpstreamCount) - int(a.UpstreamCount) })
	return []kasoku.Finding{r.finding(c, found, count, took)}, nil
}

func (r StaticFiles) finding(c *diagnose.Case, found []*kasoku.Endpoint, count uint64,
	took time.Duration) kasoku.Finding {
	var names []string
	var quotes []kasoku.Evidence
	endings := map[string]bool{}
	for i, e := range found {
		names = append(names, e.Route)
		endings[strings.TrimPrefix(strings.ToLower(path.Ext(e.Route)), ".")] = true
		if i < 4 {
			quotes = append(quotes, webserver.RequestCount(c, e))
		}
	}
	quotes = append(quotes, kasoku.Evidence{Source: "access", Text: "time of the server behind for files",
		Value: unit.Duration(took), Number: took.Seconds(), Interval: c.Whole()})
	impact := webserver.SavedTime(c, took, false)
	var kinds []string
	for e := range endings {
		kinds = append(kinds, e)
	}
	slices.Sort(kinds)
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: webserver.EndpointName(found[0])},
		Title:    "The application sends files that nginx could send",
		Severity: evidence.SeverityOf(impact.Share), Impact: impact, Evidence: quotes,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Cause: fmt.Sprintf("nginx passed on %s requests for files that have one size each: %s. The application took %s for them.",
			unit.Count(count), wording.List(names, 4), unit.Duration(took)),
		Fixes: []kasoku.Fix{{
			Text: "Let nginx send these files, and let browsers keep them", Where: "nginx.conf, in the server",
			Lang: "nginx", Risk: kasoku.RiskNone,
			Code: fmt.Sprintf("location ~* \\.(%s)$ {\n    root DIRECTORY;\n    try_files $uri =404;\n    expires 1d;\n}", strings.Join(kinds, "|")),
			Note: "DIRECTORY is where the application reads them from. Where names do not change with their content, browsers may show an old file for a day.",
		}},
		Expect: "the application is not asked for files",
		Verify: "repeat the load: these requests have no upstream time", Interval: c.Whole(),
	}
}
