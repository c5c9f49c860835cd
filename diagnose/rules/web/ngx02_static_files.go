package web

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/lazyregexp"
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
		Fix: `root and try_files for the paths that were found as files, with an age after which to ask
			again; what is no file goes to the application as before. A path is looked for with the rights of
			an nginx worker below nginx's own roots and the application's working directory and public
			folders, and is a file when it has the size of the answers. Of paths that were not found nothing
			is printed: they may come from a database or from code.`,
		Silent: `when such requests are answered by nginx itself, or are few, and of paths that end with
			an id: these come from a database or from code; blind without an access log that says which
			requests were passed on.`,
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
		if e := &endpoints[i]; webserver.IsStatic(e) && !namedByID(e.Route) {
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
	slices.SortFunc(found, func(a, b *kasoku.Endpoint) int {
		return cmp.Or(cmp.Compare(b.UpstreamCount, a.UpstreamCount), cmp.Compare(a.Route, b.Route),
			cmp.Compare(a.Method, b.Method))
	})
	return []kasoku.Finding{r.finding(c, found, count, took)}, nil
}

func (r StaticFiles) finding(c *diagnose.Case, found []*kasoku.Endpoint, count uint64,
	took time.Duration) kasoku.Finding {
	var names []string
	var quotes []kasoku.Evidence
	for i, e := range found {
		names = append(names, e.Route)
		if i < 4 {
			quotes = append(quotes, webserver.RequestCount(c, e))
		}
	}
	quotes = append(quotes, kasoku.Evidence{Source: "access", Text: "time of the upstream server for files",
		Value: unit.Duration(took), Number: took.Seconds(), Interval: c.Whole()})
	files := filesOf(c, found)
	place := diagnose.Signal{Holds: true}
	if len(files) == 0 {
		place = diagnose.Signal{Blind: "no file of these paths was found that nginx could read"}
	}
	var saved time.Duration
	for i, f := range files {
		saved += f.endpoint.Upstream
		if i < 4 {
			quotes = append(quotes, kasoku.Evidence{Source: "host", Text: f.root + f.endpoint.Route,
				Note: "nginx may read it, and it has the size of the answers", Value: unit.Bytes(f.endpoint.MaxBytes),
				Number: float64(f.endpoint.MaxBytes), Strong: true, Interval: c.Whole()})
		}
	}
	impact := webserver.SavedTime(c, took, true)
	if len(files) > 0 {
		impact = webserver.SavedTime(c, saved, false)
	}
	spent := "The application took " + unit.Duration(took) + " for them."
	if work, all, ok := workInLine(c, found); ok {
		impact.Share, impact.Estimate = min(impact.Share, work.Seconds()/all.Seconds()), true
		spent = fmt.Sprintf("They took %s, most of it in line for the application's workers: about %s of it is work.",
			unit.Duration(took), unit.Duration(work))
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: webserver.EndpointName(found[0])},
		Title:    "The application sends files that nginx could send",
		Severity: evidence.SeverityOf(impact.Share), Impact: impact, Evidence: quotes,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}, place),
		Cause: fmt.Sprintf("nginx passed on %s requests for files that have one size each: %s. %s", unit.Count(count),
			wording.List(names, 4), spent),
		Fixes:  []kasoku.Fix{staticFix(c, found, files)},
		Expect: "the application is not asked for files",
		Verify: "repeat the load: these requests have no upstream time", Interval: c.Whole(),
	}
}

// quickest is the part of an endpoint's requests that found a free worker at once, at least.
const quickest = 0.1

// workInLine returns how long files take where requests wait in line for a worker, by those
// requests of each that waited least, and how long the workers can have worked. ok is false where
// no requests wait in line, or that is not known.
func workInLine(c *diagnose.Case, found []*kasoku.Endpoint) (work, all time.Duration, ok bool) {
	all, ok = evidence.WorkedTime(c)
	if !ok || all >= c.Statements().RequestTime() {
		return 0, 0, false
	}
	for _, e := range found {
		if e.Latency == nil || e.Latency.Count() == 0 {
			return 0, 0, false
		}
		work += time.Duration(e.UpstreamCount) * e.Latency.Quantile(quickest)
	}
	return work, all, true
}

// namedByID reports whether the last segment of a route is an id with an extension, such as
// /image/:id.png: what has a number for its name is a row of a table, not a file.
func namedByID(route string) bool { return strings.HasPrefix(path.Base(route), ":id") }

// A staticFile is an endpoint whose path is a file below a root.
type staticFile struct {
	endpoint *kasoku.Endpoint
	root     string
}

// refusals are answers to those whom an application does not send a file: nginx would.
var refusals = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusFound, http.StatusSeeOther,
	http.StatusTemporaryRedirect}

// filesOf returns the endpoints whose paths are files that nginx may read, and that the
// application refused to none.
func filesOf(c *diagnose.Case, found []*kasoku.Endpoint) (out []staticFile) {
	for _, e := range found {
		refused := slices.ContainsFunc(refusals, func(code int) bool { return e.Codes[code] > 0 })
		if root, ok := c.FileRoot(e.Route); ok && kasoku.IsPlainPath(e.Route) && !refused {
			out = append(out, staticFile{e, root})
		}
	}
	return out
}

// staticFix lets nginx look for the files that were found, and pass on what is not there any
// more. What was not found stays with the application.
func staticFix(c *diagnose.Case, found []*kasoku.Endpoint, files []staticFile) kasoku.Fix {
	f := kasoku.Fix{
		Text: "Let nginx send these files", Where: "nginx.conf, in the server that passes them on",
		Risk: kasoku.RiskNone,
	}
	const inWords = "In a location of nginx's: root, and try_files $uri with the application as the last. "
	if len(files) == 0 {
		f.Note = inWords + "Where they lie was not found, with the rights of nginx, below its roots or the " +
			"application's folders: they may come from a database or from code, and then this is no fix."
		return f
	}
	roots, left := rootsOf(files), len(found)-len(files)
	f.Note = "They lie in " + wording.List(roots, 4) + ". What is no file there goes to the application as before. " +
		"The location stands before others with patterns. nginx sends them to anyone: leave out what the application " +
		"sends only to those who signed in. "
	if allVersioned(files) {
		f.Note += "Browsers keep them for a day: their names change with their content."
	} else {
		f.Note += "nginx sends Last-Modified and ETag, so that browsers that ask again get 304. Where names change with " +
			"their content, `expires 1d;` in the location spares that as well; elsewhere it shows old files."
	}
	if left > 0 {
		f.Note += fmt.Sprintf(" Not among them: %s, not found as files, or refused to some.", unit.Counted(left, "path", "paths"))
	}
	blocks, place := staticBlocks(c, files, roots)
	if len(blocks) == 0 {
		f.Note = inWords + f.Note
		return f
	}
	if place != "" {
		f.Where = "nginx's " + place
	}
	f.Lang, f.Code = "nginx", webserver.Block("server", blocks...)
	return f
}

// versioned is a part of a name that build tools make of a file's content: app-5f3a9c1e.js,
// /build/5f3a9c1e0b/app.js.
var versioned = lazyregexp.New(`[-._/][0-9a-f]{8,}[./]`)

// allVersioned reports whether the names of all files change with their content.
func allVersioned(files []staticFile) bool {
	return !slices.ContainsFunc(files, func(f staticFile) bool { return !versioned().MatchString(f.endpoint.Route) })
}

func rootsOf(files []staticFile) (out []string) {
	for _, f := range files {
		if !slices.Contains(out, f.root) {
			out = append(out, f.root)
		}
	}
	return out
}

// staticBlocks returns a location for each root, and the one that passes on what is not
// there; none where the files are passed on by several locations or in a way that another
// location cannot repeat. place names the server block that they belong to, where there are
// others.
func staticBlocks(c *diagnose.Case, files []staticFile, roots []string) (out []string, place string) {
	w, err := webserver.ConfigOf(c.Recording)
	if err != nil {
		return nil, ""
	}
	from, ok := w.LocationOf(files[0].endpoint.Route)
	pass := w.PassesAs(from)
	if !ok || len(pass) == 0 || from.Modifier == "=" || from.Modifier == "^~" || w.HasLocation("@application") {
		return nil, ""
	}
	for _, root := range roots {
		var names []string
		for _, f := range files {
			if l, _ := w.LocationOf(f.endpoint.Route); f.root == root && l.At == from.At {
				names = append(names, regexp.QuoteMeta(f.endpoint.Route))
			}
		}
		if len(names) > 0 {
			lines := append(besideFiles(pass), "root "+root+";", "try_files $uri @application;")
			if allVersioned(files) {
				lines = append(lines, "expires 1d;")
			}
			out = append(out, webserver.Block(`location ~ "^(`+strings.Join(names, "|")+`)$"`, lines...))
		}
	}
	return append(out, webserver.Block("location @application", pass...)), w.Place()
}

// besideFiles are those of a location's directives that also hold for files: above all who may
// ask, which a location of its own does not inherit.
func besideFiles(pass []string) (out []string) {
	for _, line := range pass {
		if !slices.ContainsFunc([]string{"proxy_", "client_", "root ", "index ", "expires "}, func(p string) bool {
			return strings.HasPrefix(line, p)
		}) {
			out = append(out, line)
		}
	}
	return out
}
