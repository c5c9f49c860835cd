package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/report"
)

//go:embed page.html
var pageText string

//go:embed blocks.html
var blocksText string

//go:embed style.css
var styleText string

//go:embed script.js
var scriptText string

// Write writes the document as one page.
func Write(w io.Writer, d *report.Document) error { return (&renderer{doc: d}).write(w, "page") }

// write executes one of the templates.
func (r *renderer) write(w io.Writer, name string) error {
	t, err := template.New("page").Funcs(r.funcs()).Parse(r.styled(pageText))
	if err != nil {
		return fmt.Errorf("parse page template: %w", err)
	}
	if r.templates, err = t.Parse(r.styled(blocksText)); err != nil {
		return fmt.Errorf("parse block templates: %w", err)
	}
	// A page that fails half-way is worse than none: it is built before it is written.
	var b bytes.Buffer
	if err := r.templates.ExecuteTemplate(&b, name, r.page()); err != nil {
		return fmt.Errorf("render report: %w", err)
	}
	if _, err := w.Write(printable(b.Bytes())); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// styled is the text of a template, whose style attributes a script sets on a page of a server.
func (r *renderer) styled(text string) string {
	if r.site == nil {
		return text
	}
	return strings.ReplaceAll(text, inlineStyle, scriptedStyle)
}

// A renderer makes one page.
type renderer struct {
	doc       *report.Document
	site      *Site // nil: a file of its own
	beside    bool  // it stands beside another document, which has the landmarks
	templates *template.Template
	charts    int // timelines so far
}

// A page is what the outermost template shows.
type page struct {
	*report.Document
	Site   *Site
	Policy string
	Style  template.CSS
	Script template.JS
}

func (r *renderer) page() page {
	sum := sha256.Sum256([]byte(scriptText))
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
	return page{Document: r.doc, Site: r.site, Policy: policy, Style: template.CSS(styleText),
		Script: template.JS(scriptText)}
}

func (r *renderer) funcs() template.FuncMap {
	return template.FuncMap{
		"prose": prose, "keep": keep, "render": r.contained, "sentence": report.Sentence, "tone": toneClass,
		"beside":  func() bool { return r.beside },
		"keyed":   func() bool { return r.site != nil },
		"percent": func(v float64) string { return trim(100 * v) },
		"inc":     func(i int) int { return i + 1 },
	}
}

// contained renders one block; one that panics leaves a line that says so.
func (r *renderer) contained(b report.Block) (out template.HTML, err error) {
	part := contain.Part{Kind: contain.Section, Name: strings.TrimPrefix(fmt.Sprintf("%T", b), "*")}
	if bug := contain.Run(part, func() { out, err = r.block(b) }); bug != nil {
		return r.block(report.Lost(bug))
	}
	return out, err
}

// block renders one block with the template of its kind.
func (r *renderer) block(b report.Block) (template.HTML, error) {
	switch b := b.(type) {
	case *report.Findings:
		return r.execute("findings", b)
	case *report.Table:
		return r.execute("table", tableView(b))
	case *report.Timeline:
		r.charts++
		return r.execute("timeline", timelineView(b, r.charts))
	case *report.Moves:
		return r.execute("moves", movesView(b))
	case *report.Curve:
		return r.execute("curve", curveView(b))
	case *report.Flame:
		return r.execute("flame", flameView(b))
	case *report.Picture:
		return r.execute("picture", b)
	case *report.Trend:
		return r.execute("trend", trendView(b))
	case *report.Tale:
		return r.execute("tale", b)
	case *report.Strips:
		return r.strips(b)
	case *report.Notes:
		return r.execute("notes", b)
	case *report.Pairs:
		return r.execute("pairs", b)
	case *report.Diff:
		return r.execute("diff", b)
	case report.Para:
		return r.execute("para", b)
	}
	return "", fmt.Errorf("no template for a block of type %T", b)
}

func (r *renderer) execute(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := r.templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	return template.HTML(b.String()), nil
}

// prose escapes text and then marks `code` and **strong** words in it.
func prose(s report.Prose) template.HTML {
	e := template.HTMLEscapeString(string(s))
	e = pairs(e, "`", "<code>", "</code>")
	return template.HTML(pairs(e, "**", "<b>", "</b>"))
}

// pairs replaces marks that come in pairs; one without a partner stays.
func pairs(s, mark, open, end string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, mark)
		inner, after, closed := strings.Cut(rest, mark)
		if !ok || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before + open + inner + end)
		s = after
	}
}

// together are a number with its unit and what an arrow joins.
var together = regexp.MustCompile(`(\d) (%|ms|µs|s|req/s|→)|→ `)

// keep holds together what must not be parted at the end of a line.
func keep(s string) string {
	return together.ReplaceAllStringFunc(s, func(m string) string { return strings.ReplaceAll(m, " ", "\u00a0") })
}

// escapes are the escape sequences of terminals that set colours and move cursors. They are looked for in a page
// that is made: none reaches over what is markup.
var escapes = regexp.MustCompile(`\x1b\[[0-9;:?]*[A-Za-z@~]`)

// printable takes out of a page what has no place in one and can only come from a
// log: escape sequences, control characters, and marks that turn the direction of
// writing.
func printable(b []byte) []byte {
	b = escapes.ReplaceAll(b, nil)
	return bytes.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case logs.ActsOnTerminal(r):
			return -1
		}
		return r
	}, b)
}

// toneClass is the class of a tone.
func toneClass(t report.Tone) string {
	switch t {
	case report.Good:
		return "ok"
	case report.Bad:
		return "bad"
	case report.Mark:
		return "ev"
	case report.Dim:
		return "d"
	case report.Strong:
		return "st"
	}
	return ""
}
