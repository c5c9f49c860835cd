package html

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/story"
)

func options() report.Options {
	return report.Options{Location: sample.JST, Made: sample.Started.Add(45 * time.Second), File: "20261120-140211-before.kasoku"}
}

func grouped(t *testing.T) *compare.Comparison {
	t.Helper()
	before, after := sample.Groups()
	c, err := compare.Compare(before, after, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// analysed are a run with all that logs and servers report, and its comparison with the
// next.
func analysed(t *testing.T) (show, moved *report.Document) {
	t.Helper()
	before, after := sample.Analysed()
	c, err := compare.Compare([]*kasoku.Recording{before}, []*kasoku.Recording{after}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return recording.Show(before, options()), comparison.Compare(c, options())
}

func compared(t *testing.T) *compare.Comparison {
	t.Helper()
	c, err := compare.Compare([]*kasoku.Recording{sample.Before()}, []*kasoku.Recording{sample.After()}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func render(t *testing.T, d *report.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// content is a page without its style and script, which have files of their own.
func content(t *testing.T, d *report.Document) []byte {
	t.Helper()
	b := render(t, d)
	b = bytes.Replace(b, []byte(styleText), []byte("…"), 1)
	b = bytes.Replace(b, []byte(scriptText), []byte("…"), 1)
	return regexp.MustCompile(`sha256-.*?&#39;`).ReplaceAll(b, []byte("sha256-…&#39;"))
}

func TestGolden(t *testing.T) {
	golden.Check(t, "testdata/show.html.golden", content(t, recording.Show(sample.Before(), options())))
	golden.Check(t, "testdata/compare.html.golden", content(t, comparison.Compare(compared(t), options())))
	logs, moved := analysed(t)
	golden.Check(t, "testdata/analysed.html.golden", content(t, logs))
	golden.Check(t, "testdata/analysed-moved.html.golden", content(t, moved))
	golden.Check(t, "testdata/groups.html.golden", content(t, comparison.Compare(grouped(t), options())))
	golden.Check(t, "testdata/story.html.golden", content(t, storyDocument(t)))
	golden.Check(t, "testdata/stopped.html.golden", content(t, recording.Show(sample.Stopped(), options())))
	golden.Check(t, "testdata/services.html.golden", content(t, recording.Show(sample.Services(), options())))
	golden.Check(t, "testdata/command.html.golden", content(t, recording.Show(sample.Command(), options())))
}

func storyDocument(t *testing.T) *report.Document {
	t.Helper()
	before := sample.Before()
	st := story.Story{Before: before, After: sample.After(), Comparison: compared(t)}
	for _, x := range sample.Trials() {
		e, err := compare.Effect(compare.Cut{Run: before, Step: 3}, compare.Cut{Run: x.Run, Step: 1}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		st.Tries = append(st.Tries, story.Try{Change: x.Change, Finding: x.Finding, Control: x.Control, Effect: e})
	}
	st.Tries = append(st.Tries, story.Try{Change: "SQL logging off", Finding: "DRV-05", Failed: "the lab did not start"})
	return story.New(st, options())
}

// What a log says must not become markup, script or an address to fetch.
func TestHostileText(t *testing.T) {
	const evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onmouseover=alert(3) ' {{.}} \x1b[31m\u202e`</code>`"
	r := sample.Before()
	r.Run.Project, r.Run.Label, r.Run.Load, r.Run.StopReason = evil, evil, evil, evil
	r.Messages[0].Sample, r.Queries[0].Fingerprint, r.Endpoints[0].Route = evil, evil, evil
	r.Warnings[0].Text, r.Warnings[0].Hint, r.Warnings[0].Code = evil, evil, evil
	r.Gaps[0].Reason, r.Settings[0].Value = evil, evil
	r.RowChecks[0].Table = evil
	for i := range r.Series {
		if r.Series[i].Key.Source == "process" {
			r.Series[i].Key.Instance += evil
		}
	}
	for _, s := range sample.Services().Series {
		s.Key.Instance += evil
		r.Series = append(r.Series, s)
	}
	shop, _ := sample.Analysed()
	r.Slowest, r.Transactions, r.Plans, r.Tables, r.Advice = shop.Slowest, shop.Transactions, shop.Plans, shop.Tables, shop.Advice
	r.Callers, r.Joins = shop.Callers, shop.Joins
	r.Callers[0].Route, r.Callers[0].QueryID, r.Callers[4].With[0], r.Joins[0].Source = evil, evil, evil, evil
	r.Joins[0].Refused, r.Joins[0].Checks[1].Text, r.Joins[0].Loops[0].QueryIDs[0] = evil, evil, evil
	r.Slowest[0].URI, r.Slowest[0].Method, r.Transactions[0].Tag, r.Transactions[0].Verbs = evil, evil, evil, evil
	r.Plans[0].QueryID, r.Plans[0].Note, r.Plans[0].Rows[0].Table, r.Plans[0].Rows[0].Extra, r.Plans[0].Rows[0].Key = evil, evil, evil, evil, evil
	r.Tables[0].Name, r.Tables[0].Engine, r.Tables[0].Indexes[0].Name, r.Tables[0].Indexes[0].Columns[0] = evil, evil, evil, evil
	r.Queries[0].ID, r.Queries[0].Verb, r.Queries[0].Tables, r.Queries[0].Distinct, r.Queries[0].Streaks = evil, "SELECT", []string{evil}, 1, r.Queries[0].Calls
	a := &r.Advice[0]
	a.Host, a.ID, a.Area, a.Title, a.Variable, a.Value, a.Proposed, a.Formula, a.Measured = evil, evil, evil, evil, evil, evil, evil, evil, evil
	a.Threshold, a.Window, a.SetGlobal, a.ConfLine, a.Gain, a.Price, a.Note, a.Confidence.Note = evil, evil, evil, evil, evil, evil, evil, evil
	f := &r.Diagnosis.Findings[0]
	f.Title, f.Cause, f.ID, f.Object.Name = evil, evil, evil, evil
	f.Evidence[0].Text, f.Evidence[0].Value = evil, evil
	f.Fixes[0].Code, f.Fixes[0].Where = evil, evil
	for i := range r.Seconds {
		if n := r.Seconds[i].Codes[500]; n > 0 {
			r.Seconds[i].Errors = map[string]uint64{evil: n}
		}
	}
	r.Service = shop.Service
	for i := range r.Service.Members {
		m := &r.Service.Members[i]
		m.Program, m.Version, m.Language, m.Host = evil, evil, evil, evil
		r.Service.Edges[i].Protocol = evil
	}
	got := string(render(t, recording.Show(r, report.Options{File: evil, Commands: []string{evil}})))
	if n := strings.Count(got, "<script"); n != 2 {
		t.Errorf("%d script elements, want the data and the script", n)
	}
	for _, bad := range []string{"<img", "onerror=alert(2)>", `" onmouseover`, "\x1b", "\u202e", "ZgotmplZ"} {
		if strings.Contains(got, bad) {
			i := strings.Index(got, bad)
			t.Errorf("%q came through: …%s…", bad, got[max(0, i-60):min(len(got), i+60)])
		}
	}
}

// The page is complete: it names nothing that would have to be fetched.
func TestNoNetwork(t *testing.T) {
	for name, d := range map[string]*report.Document{"show": recording.Show(sample.Before(), options()), "story": storyDocument(t)} {
		got := string(render(t, d))
		for _, bad := range []string{"src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "http:", "https:"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s: %q in the page", name, bad)
			}
		}
		if !strings.Contains(got, "default-src &#39;none&#39;") {
			t.Errorf("%s: no content security policy", name)
		}
	}
}

// Every id that the page links to exists, and no id comes twice.
func TestLinks(t *testing.T) {
	got := string(render(t, storyDocument(t)))
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(got, -1) {
		ids[m[1]]++
		if ids[m[1]] > 1 {
			t.Errorf("id %q comes %d times", m[1], ids[m[1]])
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(got, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("a link goes to #%s, which does not exist", m[1])
		}
	}
}
