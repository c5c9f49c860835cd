package provecmd

import (
	"fmt"
	"strconv"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/prove/answers"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
)

func recordedDocument(out *answers.Recorded, file string, asked int) *report.Document {
	volatile := &report.Table{ID: "volatile", Columns: []report.Column{{Key: "endpoint", Head: "endpoint", Code: true},
		{Key: "path", Head: "path", Code: true}, {Key: "what", Head: "differs in"}}}
	seen := map[string]bool{}
	n := 0
	for i := range out.Golden.Answers {
		a := &out.Golden.Answers[i]
		for _, v := range a.Volatile {
			n++
			what := v.What
			if v.Concurrent {
				what += ", only with other requests under way"
			}
			if key := a.Endpoint + v.Path + what; !seen[key] {
				seen[key] = true
				volatile.Rows = append(volatile.Rows, report.Row{Cells: []report.Cell{{Text: a.Endpoint},
					{Text: (&answers.Difference{Path: v.Path}).Place(), Raw: v.Path}, {Text: what}}})
			}
		}
	}
	left := &report.Table{ID: "left_out", Columns: []report.Column{{Key: "request", Head: "request", Code: true,
		Cut: true, Least: 30}, {Key: "why", Head: "why"}}}
	for i := range out.Left {
		left.Rows = append(left.Rows, report.Row{Cells: []report.Cell{{Text: out.Left[i].Request.String()},
			{Text: out.Left[i].Why}}})
	}
	verdict := fmt.Sprintf("%s kept; %s volatile and left out", counted(len(out.Golden.Answers)), unit.Counted(n,
		"place is", "places are"))
	if len(out.Left) > 0 {
		verdict += "; " + unit.Counted(len(out.Left), "request is", "requests are") + " left out"
	}
	d := &report.Document{Kind: report.KindAnswers, Title: "kasoku answers record", Name: file, Verdict: verdict + ".",
		Head: []string{"kasoku answers record", file, counted(asked) + " asked for"}}
	if len(volatile.Rows) > 0 {
		d.Sections = append(d.Sections, report.Section{ID: "volatile", Title: "Volatile",
			Sub:   "What differed between asks is not compared.",
			Count: len(volatile.Rows), Blocks: []report.Block{volatile}})
	}
	if len(left.Rows) > 0 {
		d.Sections = append(d.Sections, report.Section{ID: "left_out", Title: "Left out", Count: len(left.Rows),
			Blocks: []report.Block{left}})
	}
	return d
}

func checkedVerdict(out *answers.Checked) string {
	if len(out.Differences) == 0 {
		return fmt.Sprintf("%s the same, but for %s", unit.Counted(out.Answers, "answer is", "answers are"),
			unit.Counted(out.Volatile, "volatile place", "volatile places"))
	}
	return fmt.Sprintf("%s in %s", unit.Counted(len(out.Differences), "difference", "differences"), counted(out.Answers))
}

func checkedDocument(out *answers.Checked, file string) *report.Document {
	d := &report.Document{Kind: report.KindAnswers, Title: "kasoku answers check", Name: file,
		Verdict: checkedVerdict(out) + ".",
		Head:    []string{"kasoku answers check", file, fmt.Sprintf("%d of %s asked for", out.Answers, counted(out.Of))}}
	table := &report.Table{ID: "differences", Columns: []report.Column{{Key: "endpoint", Head: "endpoint", Code: true},
		{Key: "difference", Head: "difference", Cut: true}, {Key: "answers", Head: "answers", Align: report.Right,
			Drop: report.DropExtra},
		{Key: "request", Head: "first at", Code: true, Drop: report.DropExtra + 1}}}
	for i := range out.Differences {
		x := &out.Differences[i]
		table.Rows = append(table.Rows, report.Row{Cells: []report.Cell{{Text: x.Endpoint}, {Text: x.Text()},
			{Text: strconv.Itoa(x.Answers), Raw: strconv.Itoa(x.Answers)}, {Text: x.Request}}})
	}
	if len(table.Rows) > 0 {
		d.Sections = []report.Section{{ID: "differences", Title: "Differences", Count: len(table.Rows),
			Blocks: []report.Block{table}}}
	}
	return d
}

// AnswersRecorded is what kasoku answers record -o json writes; docs/json.md has the fields.
type AnswersRecorded struct {
	Schema  int             `json:"schema"`
	Kind    string          `json:"kind"` // answers-record
	File    string          `json:"file"`
	Answers int             `json:"answers"`
	Left    []leftOut       `json:"left_out"`
	Places  []volatilePlace `json:"volatile"`
}

type leftOut struct {
	Request string `json:"request"`
	Why     string `json:"why"`
}

type volatilePlace struct {
	Request    string `json:"request"`
	Path       string `json:"path"`
	What       string `json:"what"`
	Concurrent bool   `json:"concurrent"`
}

func newAnswersRecorded(r *answers.Recorded, file string) AnswersRecorded {
	out := AnswersRecorded{Schema: encode.Schema, Kind: "answers-record", File: file, Answers: len(r.Golden.Answers),
		Left: []leftOut{}, Places: []volatilePlace{}}
	for i := range r.Left {
		out.Left = append(out.Left, leftOut{r.Left[i].Request.String(), r.Left[i].Why})
	}
	for i := range r.Golden.Answers {
		for _, v := range r.Golden.Answers[i].Volatile {
			out.Places = append(out.Places, volatilePlace{r.Golden.Answers[i].String(), v.Path, v.What, v.Concurrent})
		}
	}
	return out
}

// AnswersChecked is what kasoku answers check -o json writes; docs/json.md has the fields.
type AnswersChecked struct {
	Schema      int                `json:"schema"`
	Kind        string             `json:"kind"` // answers-check
	File        string             `json:"file"`
	Answers     int                `json:"answers"`
	Of          int                `json:"of"`
	Volatile    int                `json:"volatile"`
	Same        bool               `json:"same"`
	Differences []answerDifference `json:"differences"`
}

type answerDifference struct {
	Endpoint   string `json:"endpoint"`
	Text       string `json:"text"`
	Path       string `json:"path"`
	What       string `json:"what"`
	Count      int    `json:"count"`
	Of         int    `json:"of"`
	Answers    int    `json:"answers"`
	Asked      int    `json:"asked"`
	Request    string `json:"request"`
	Was        string `json:"was"`
	Now        string `json:"now"`
	Concurrent bool   `json:"concurrent"`
}

func newAnswersChecked(c *answers.Checked, file string) AnswersChecked {
	out := AnswersChecked{Schema: encode.Schema, Kind: "answers-check", File: file, Answers: c.Answers, Of: c.Of, Volatile: c.Volatile,
		Same: len(c.Differences) == 0 && c.Answers == c.Of, Differences: []answerDifference{}}
	for i := range c.Differences {
		d := &c.Differences[i]
		out.Differences = append(out.Differences, answerDifference{d.Endpoint, d.Text(), d.Path, d.What, d.Count, d.Of,
			d.Answers, d.Asked, d.Request, d.Was, d.Now, d.Concurrent})
	}
	return out
}
