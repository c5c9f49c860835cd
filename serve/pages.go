package serve

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/runlist"
	"github.com/kasoku/kasoku/store"
)

// A noPageError is of an address that leads nowhere.
type noPageError struct{ path string }

func (e *noPageError) Error() string { return fmt.Sprintf("there is no page %s", e.path) }

// An askedError is of a question that makes no sense.
type askedError struct{ what, hint string }

func (e *askedError) Error() string { return e.what }

// site is what a page has around its document.
func (s *Server) site(here string) *html.Site {
	return &html.Site{
		Style: address(styleFile), Scripts: []string{address(reportFile), address(pageFile)},
		Links: []html.Link{{Text: "Runs", Address: "/", Here: here == "/"},
			{Text: "Live", Address: "/live", Here: here == "/live"}},
	}
}

// send sends what is written in whole or not at all.
func send(w http.ResponseWriter, code int, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // a reader that has gone away is his own matter
	return nil
}

// page sends a document as a page.
func (s *Server) page(w http.ResponseWriter, code int, d *report.Document, site *html.Site) error {
	return send(w, code, func(to io.Writer) error { return html.WriteSite(to, d, site) })
}

// fail sends what went wrong in the form in which it was asked.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	code, hint := http.StatusInternalServerError, ""
	var noRun *missingError
	var noPage *noPageError
	var asked *askedError
	var empty *part.EmptyError
	switch {
	case errors.As(err, &noRun):
		code, hint = http.StatusNotFound, nearest(noRun)
	case errors.As(err, &noPage):
		code = http.StatusNotFound
	case errors.As(err, &asked):
		code, hint = http.StatusBadRequest, asked.hint
	case errors.As(err, &empty):
		code = http.StatusBadRequest
	case errors.Is(err, ErrBusy):
		code = http.StatusConflict
	case errors.Is(err, errForbidden):
		code, hint = http.StatusForbidden, "the owner of this server allows it: kasoku serve --allow note,score,run"
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		sendProblem(w, code, err.Error(), hint)
		return
	}
	d := &report.Document{Kind: report.KindRun, Title: "kasoku", Name: r.URL.Path,
		Verdict: report.Sentence(err.Error()),
		Alerts:  []report.Alert{{Tone: report.Mark, Text: http.StatusText(code) + ".", Hint: report.Prose(hint)}}}
	if err := s.page(w, code, d, s.site("")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func nearest(e *missingError) string {
	if len(e.near) == 0 {
		return "there are no runs yet"
	}
	near := unit.Nearby(e.name, e.near, 3)
	if len(near) == 0 {
		near = e.near[:min(3, len(e.near))]
	}
	return "there is " + strings.Join(near, ", ")
}

// home is the story of all runs.
func (s *Server) home(w http.ResponseWriter, _ *http.Request) error {
	state := s.news.digest("") // before what is shown: at the worst it is asked for twice
	infos, err := s.runs.list()
	if err != nil {
		return err
	}
	o := runlist.ListOptions{Options: s.Report(""), Changes: runlist.ChangesBetween(), Reverse: true}
	d := runlist.List(infos, o)
	d.Commands = []string{"kasoku list"}
	if d.Verdict == "" {
		d.Verdict = unit.Counted(len(infos), "run", "runs") + ", and no two of them have a figure by which to compare them."
		if len(infos) == 1 {
			d.Verdict = "One run. The next one is compared with it."
		}
	}
	if len(infos) == 0 {
		d.Sections = []report.Section{firstRuns(s.Dirs)}
	}
	site := s.site("/")
	site.State = state
	for _, i := range infos {
		if changes(i) {
			site.Panels += recordingPanel(i)
		}
	}
	if s.Starter != nil {
		busy, ended := s.Starter.State()
		site.Panels += panel("start", struct {
			Busy  bool
			Ended string
		}{busy, ended})
	}
	return s.page(w, http.StatusOK, d, site)
}

// firstRuns are the ways to a first run.
func firstRuns(dirs []string) report.Section {
	return report.Section{ID: "start", Title: "Three ways to the first run", Blocks: []report.Block{
		&report.Notes{List: []report.Note{
			{Sign: "·", Label: "your service",
				Text: "kasoku init --url http://localhost:8080/ writes kasoku.toml, kasoku run measures it"},
			{Sign: "·", Label: "your benchmark", Text: "kasoku record -- ./bench.sh records while it runs"},
			{Sign: "·", Label: "an example", Text: "kasoku demo makes two runs and compares them, in four minutes"},
		}},
		report.Para{Text: report.Prose("This page looks for runs in `" + strings.Join(dirs, "`, `") +
			"`, and shows them as soon as they begin."), Tone: report.Dim},
	}}
}

//go:embed panels.html
var panelsText string

// panels are what stands between the head of a page and its sections.
var panels = sync.OnceValue(func() *template.Template { return template.Must(template.New("").Parse(panelsText)) })

func panel(name string, data any) template.HTML {
	var b bytes.Buffer
	if err := panels().ExecuteTemplate(&b, name, data); err != nil {
		return template.HTML(template.HTMLEscapeString(err.Error()))
	}
	return template.HTML(b.String())
}

func recordingPanel(i store.Info) template.HTML {
	return panel("recording", struct{ Name, Since, Load string }{NameOf(i.Path),
		i.Started.Local().Format("15:04:05"), i.Load})
}

// run is one run, as kasoku show prints it.
func (s *Server) run(w http.ResponseWriter, r *http.Request) error {
	text, err := s.runs.page(r.PathValue("name"), s.runPage)
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, func(to io.Writer) error { _, err := to.Write(text); return err })
}

// runPage makes the page of a run.
func (s *Server) runPage(rec *kasoku.Recording, path string) ([]byte, error) {
	state := s.news.digest(NameOf(path))
	o := s.Report(path)
	o.Long = true
	d := recording.Show(rec, o)
	view := recorded.Of(rec, o)
	site := s.site("")
	site.Run, site.Running = NameOf(path), rec.Run.State == kasoku.Running
	if site.Running {
		site.State = state
		timelineFirst(d)
	}
	site.Length = int((view.Length() + time.Second - 1) / time.Second)
	if !site.Running && (s.Note != nil || s.Score != nil) {
		e := struct {
			Name, Note, Score string
			CanNote, CanScore bool
		}{site.Run, rec.Run.Note, "", s.Note != nil, s.Score != nil}
		if rec.Run.Score != nil {
			e.Score = strconv.FormatFloat(rec.Run.Score.Value, 'f', -1, 64)
		}
		site.Panels += panel("edit", e)
	}
	site.Panels += s.since(rec, path, d)
	site.Panels += s.links(rec, view.Length())
	if !site.Running && d.Section(report.SectionTimeline) != nil {
		site.Panels += panel("brush", nil)
	}
	if !site.Running { // what a brush asks for is added up before it is drawn
		contain.Go(contain.Part{Kind: contain.Step, Name: "sums of a run"}, func() {
			_, _ = part.Of(rec, view.Length(), kasoku.Interval{To: view.Length()})
		})
	}
	var b bytes.Buffer
	err := html.WriteSite(&b, d, site)
	return b.Bytes(), err
}

// timelineFirst puts the charts in front: what moves is what is looked at.
func timelineFirst(d *report.Document) {
	slices.SortStableFunc(d.Sections, func(a, b report.Section) int {
		isTime := func(s report.Section) int {
			if s.ID == report.SectionTimeline {
				return 0
			}
			return 1
		}
		return isTime(a) - isTime(b)
	})
}

// stretch reads seconds of a run as addresses have them: 12-31.
func stretch(text string) (iv kasoku.Interval, err error) {
	from, to, ok := strings.Cut(text, "-")
	a, errA := strconv.ParseFloat(from, 64)
	b, errB := strconv.ParseFloat(to, 64)
	const most = 1e8 // three years, in seconds
	if !ok || errA != nil || errB != nil || !(a >= 0 && a < b && b <= most) {
		return iv, &askedError{fmt.Sprintf("seconds %q make no stretch of a run", text),
			"12-31 are the seconds 12 to 31"}
	}
	return kasoku.Interval{From: time.Duration(a * float64(time.Second)),
		To: time.Duration(b * float64(time.Second))}, nil
}

// partOf cuts out of a run what a parameter of the address names.
func (s *Server) partOf(r *http.Request, rec *kasoku.Recording, path, name string) (*part.Part, error) {
	iv, err := stretch(r.FormValue(name))
	if err != nil {
		return nil, err
	}
	return part.Of(rec, recorded.Of(rec, s.Report(path)).Length(), iv)
}

// part are the tables of some seconds of a run, and with b of their difference from others.
func (s *Server) part(w http.ResponseWriter, r *http.Request) error {
	rec, path, err := s.runs.run(r.PathValue("name"))
	if err != nil {
		return err
	}
	a, err := s.partOf(r, rec, path, "t")
	if err != nil {
		return err
	}
	o := s.Report(path)
	o.Sections = []string{report.SectionEndpoints, report.SectionQueries, report.SectionMessages}
	o.Long = true
	var d *report.Document
	if r.FormValue("b") == "" {
		d = recording.ShowPart(a, o)
	} else {
		b, err := s.partOf(r, rec, path, "b")
		if err != nil {
			return err
		}
		d = recording.ShowParts(b, a, o)
	}
	for i := range d.Sections { // they stand in the place of those of the whole run
		d.Sections[i].Title += ", " + d.Name
	}
	return send(w, http.StatusOK, func(to io.Writer) error { return html.WriteSections(to, d, s.site("")) })
}

// focus is what is known of one endpoint or of one class of statements.
func (s *Server) focus(w http.ResponseWriter, r *http.Request) error {
	rec, path, err := s.runs.run(r.PathValue("name"))
	if err != nil {
		return err
	}
	key := "e=" + r.FormValue("e")
	if q := r.FormValue("q"); q != "" {
		key = "q=" + q
	}
	d := recording.Focus(rec, key, s.Report(path))
	if d == nil {
		return &askedError{"the run has no endpoint and no statement of this name", ""}
	}
	return send(w, http.StatusOK, func(to io.Writer) error { return html.WriteAside(to, d, s.site("")) })
}

// live leads to the run that is being recorded, or says that none is.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	state := s.news.digest("")
	infos, err := s.runs.recording()
	if err != nil {
		return err
	}
	if len(infos) > 0 {
		http.Redirect(w, r, "/runs/"+url.PathEscape(NameOf(infos[0].Path)), http.StatusSeeOther)
		return nil
	}
	d := &report.Document{Kind: report.KindList, Title: "live", Name: "live", Verdict: "No run is being recorded.",
		Sections: []report.Section{firstRuns(s.Dirs)}}
	site := s.site("/live")
	site.State = state
	return s.page(w, http.StatusOK, d, site)
}

// sides reads the runs of both sides of a comparison.
func (s *Server) sides(r *http.Request) (sides [2][]*kasoku.Recording, err error) {
	for i, key := range []string{"a", "b"} {
		names := strings.Split(r.FormValue(key), ",")
		if len(names) > mostRuns {
			return sides, &askedError{"too many runs on a side", fmt.Sprintf("%d at the most", mostRuns)}
		}
		for _, name := range names {
			rec, _, err := s.runs.run(name)
			if err != nil {
				return sides, err
			}
			own := *rec // what is completed is of this comparison alone
			s.Complete(&own)
			sides[i] = append(sides[i], &own)
		}
	}
	return sides, nil
}

// mostRuns bounds the runs of a side.
const mostRuns = 30

func (s *Server) compared(r *http.Request) (*compare.Comparison, error) {
	sides, err := s.sides(r)
	if err != nil {
		return nil, err
	}
	c, err := compare.Compare(sides[0], sides[1], compare.Options{})
	if err != nil {
		return nil, &askedError{err.Error(), ""}
	}
	return c, nil
}

// compare is the comparison of two runs or groups.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	c, err := s.compared(r)
	if err != nil {
		return err
	}
	o := s.Report("")
	o.Commands = []string{"kasoku compare " + r.FormValue("a") + " " + r.FormValue("b")}
	return s.page(w, http.StatusOK, comparison.Compare(c, o), s.site(""))
}

// asset sends a file of the page.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) error {
	text, kind, ok := assetOf(r.PathValue("file"))
	if !ok {
		return &noPageError{r.URL.Path}
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // the name says which text it is
	_, _ = io.WriteString(w, text)
	return nil
}
