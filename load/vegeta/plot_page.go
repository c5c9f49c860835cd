package vegeta

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // of the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/internal/uplot"
)

//go:embed page/plot.html
var plotTemplate string

//go:embed page/plot.css
var plotStyle string

//go:embed page/plot.js
var plotScript string

// A plotPage is what the template shows.
type plotPage struct {
	Title   string
	About   string
	Note    string
	Policy  string
	License template.HTML // in a comment
	Style   template.CSS
	Scripts []template.JS
	Series  []plotSeries // for the script
}

// A plotSeries is one line of the chart, in the form that its script reads.
type plotSeries struct {
	Attack  string    `json:"attack"`
	OK      bool      `json:"ok"`
	Results int       `json:"results"`
	Max     float64   `json:"max"` // ms
	X       []float64 `json:"x"`   // seconds since the first result of the attack, to the µs
	Y       []float64 `json:"y"`   // ms, in six digits
}

// write writes the page.
func (p *plot) write(w io.Writer, o PlotOptions) error {
	t, err := template.New("plot").Parse(plotTemplate)
	if err != nil {
		return fmt.Errorf("parse page template: %w", err)
	}
	var b bytes.Buffer // a page that fails half-way is worse than none
	if err := t.Execute(&b, p.page(o)); err != nil {
		return fmt.Errorf("render plot: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	return nil
}

func (p *plot) page(o PlotOptions) plotPage {
	page := plotPage{
		Title: o.Title, Style: template.CSS(uplot.Style() + plotStyle),
		Scripts: []template.JS{template.JS(uplot.Script()), template.JS(plotScript)},
		License: template.HTML("<!--\nuPlot " + uplot.Version + "\n" + uplot.License() + "-->"),
	}
	page.Policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src"
	for _, s := range page.Scripts {
		sum := sha256.Sum256([]byte(s))
		page.Policy += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	results, shown := 0, 0
	var longest time.Duration
	for _, name := range p.order {
		a := p.attacks[name]
		for which, points := range a.series {
			if len(points) == 0 {
				continue
			}
			s := newPlotSeries(name, which == plotOK, points, a.began, o.Threshold)
			page.Series = append(page.Series, s)
			results, shown = results+s.Results, shown+len(s.X)
			longest = max(longest, time.Duration(points[len(points)-1].at-a.began))
		}
	}
	page.About = unit.Counted(results, "result", "results") + " of " + unit.Counted(len(p.order), "attack",
		"attacks") + " over " + unit.Elapsed(longest)
	if shown < results {
		page.Note = unit.Count(shown) + " points are drawn, at most " + unit.Count(o.Threshold) +
			" of a series: those that look most like all of them. -threshold 0 draws all."
	}
	return page
}

func newPlotSeries(attack string, ok bool, points []plotPoint, began int64, most int) plotSeries {
	s := plotSeries{Attack: attack, OK: ok, Results: len(points)}
	for _, p := range points {
		s.Max = max(s.Max, roundToDigits(float64(p.latency)/1e6))
	}
	for _, p := range drawnPoints(points, most) {
		s.X = append(s.X, math.Round(float64(p.at-began)/1e3)/1e6)
		s.Y = append(s.Y, roundToDigits(float64(p.latency)/1e6))
	}
	return s
}

// roundToDigits rounds to six digits, which is more than a chart shows.
func roundToDigits(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// Data is the series as JSON, which holds no "<".
func (p plotPage) Data() (template.JS, error) {
	b, err := json.Marshal(p.Series)
	return template.JS(b), err
}
