package alp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/kasoku/kasoku/logs"
)

// formats are those of --format.
var formats = map[string]func(*table, *bufio.Writer, *options) error{
	"table":    (*table).printTable,
	"markdown": (*table).printMarkdown,
	"tsv":      (*table).printTSV,
	"csv":      (*table).printCSV,
	"html":     (*table).printHTML,
	"json":     (*table).printJSON,
}

// checkFormat refuses a format that does not exist.
func (o *options) checkFormat() error {
	if formats[o.format] == nil {
		return fmt.Errorf("--format %q: want table, markdown, tsv, csv, html or json", o.format)
	}
	return nil
}

// print writes the table in the format that is asked for.
func (t *table) print(out io.Writer, o *options) error {
	w := bufio.NewWriter(out)
	if err := formats[o.format](t, w, o); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// visibleText returns a text as it may be shown on a terminal.
func visibleText(s string) string { return string(logs.AppendVisible(nil, s)) }

// widths returns how wide the columns are on a terminal, and the titles as they
// are shown there.
func (t *table) widths() (widths []int, titles []string) {
	for i, title := range t.titles {
		title = shownTitle(title)
		titles = append(titles, title)
		width := runewidth.StringWidth(title)
		for _, row := range t.rows {
			width = max(width, runewidth.StringWidth(visibleText(row[i].text)))
		}
		if t.footer != nil {
			width = max(width, runewidth.StringWidth(t.footer[i]))
		}
		widths = append(widths, width)
	}
	return widths, titles
}

// shownTitle returns a title in capitals, words apart.
func shownTitle(s string) string {
	b := []byte(s)
	for i, c := range b {
		number := i > 0 && i+1 < len(b) && b[i-1]-'0' <= 9 && b[i+1]-'0' <= 9
		if c == '_' || c == '.' && !number {
			b[i] = ' '
		}
	}
	return strings.ToUpper(strings.TrimSpace(string(b)))
}

func printRow(w *bufio.Writer, cells []string) {
	w.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func (t *table) printHead(w *bufio.Writer, widths []int, titles []string) {
	var cells []string
	for i, title := range titles {
		gap := widths[i] - runewidth.StringWidth(title)
		cells = append(cells, strings.Repeat(" ", gap/2)+title+strings.Repeat(" ", gap-gap/2))
	}
	printRow(w, cells)
}

func (t *table) printRows(w *bufio.Writer, widths []int) {
	for _, row := range t.rows {
		var cells []string
		for i, c := range row {
			cells = append(cells, runewidth.FillRight(visibleText(c.text), widths[i]))
		}
		printRow(w, cells)
	}
}

func printRule(w *bufio.Writer, widths []int, edge string) {
	w.WriteString(edge)
	for i, width := range widths {
		w.WriteString(strings.Repeat("-", width+2))
		if i == len(widths)-1 {
			break
		}
		if edge == "|" {
			w.WriteString("|")
		} else {
			w.WriteString("+")
		}
	}
	w.WriteString(edge + "\n")
}

func (t *table) printTable(w *bufio.Writer, _ *options) error {
	widths, titles := t.widths()
	printRule(w, widths, "+")
	t.printHead(w, widths, titles)
	printRule(w, widths, "+")
	t.printRows(w, widths)
	printRule(w, widths, "+")
	if t.footer == nil {
		return nil
	}
	w.WriteString("|")
	for i, text := range t.footer {
		end := "|"
		if text == "" {
			end = " " // empty cells run into one another
		}
		w.WriteString(" " + runewidth.FillRight(text, widths[i]) + " " + end)
	}
	w.WriteString("\n")
	printRule(w, widths, "+")
	return nil
}

func (t *table) printMarkdown(w *bufio.Writer, _ *options) error {
	widths, titles := t.widths()
	t.printHead(w, widths, titles)
	printRule(w, widths, "|")
	t.printRows(w, widths)
	if t.footer != nil {
		var cells []string
		for i, text := range t.footer {
			cells = append(cells, runewidth.FillRight(text, widths[i]))
		}
		printRow(w, cells)
	}
	return nil
}

func (t *table) printTSV(w *bufio.Writer, o *options) error {
	return t.printPlain(w, o, "\t", func(s string) string { return strings.ReplaceAll(s, "\t", `\t`) })
}

func (t *table) printCSV(w *bufio.Writer, o *options) error {
	return t.printPlain(w, o, ",", func(s string) string {
		if strings.ContainsAny(s, "\",\n\r") {
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` // RFC 4180
		}
		return s
	})
}

func (t *table) printPlain(w *bufio.Writer, o *options, separator string, quote func(string) string) error {
	if !o.noHeaders {
		w.WriteString(strings.Join(t.titles, separator) + "\n")
	}
	for _, row := range t.rows {
		for i, c := range row {
			if i > 0 {
				w.WriteString(separator)
			}
			w.WriteString(quote(visibleText(c.text)))
		}
		w.WriteString("\n")
	}
	return nil
}

// jsonRows returns the rows as JSON has them.
func (t *table) jsonRows() [][]any {
	var out [][]any
	for _, row := range t.rows {
		var cells []any
		for _, c := range row {
			v, err := strconv.ParseFloat(c.text, 64)
			if !c.number || err != nil {
				cells = append(cells, c.text)
				continue
			}
			cells = append(cells, v)
		}
		out = append(out, cells)
	}
	return out
}

func (t *table) printJSON(w *bufio.Writer, _ *options) error {
	var head []any
	for _, k := range t.keys {
		head = append(head, k)
	}
	b, err := json.Marshal(append([][]any{head}, t.jsonRows()...))
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	w.Write(b)
	w.WriteString("\n")
	return nil
}

// page is alp's: a table that the browser draws with Grid.js.
const page = `<!DOCTYPE html>
<html>
<head>
<meta charset="UTF-8">
<title>alp</title>
<link href="https://unpkg.com/gridjs/dist/theme/mermaid.min.css" rel="stylesheet" />
<script src="https://unpkg.com/gridjs/dist/gridjs.umd.js"></script>
</head>
<body>
<div id="gridContainer"></div>
<script>
new gridjs.Grid({
  pagination: { limit: %d },
  columns: [%s],
  autoWidth: true,
  style: {
    table: {
      'width': '100%%'
    }
  },
  data: %s,
  resizable: true,
  sort: {
    multiColumn: true
  },
  search: true,
}).render(document.getElementById("gridContainer"));
</script>
</body>
</html>
`

func (t *table) printHTML(w *bufio.Writer, o *options) error {
	data, err := json.Marshal(t.jsonRows())
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	var columns strings.Builder
	for _, title := range t.titles {
		b, err := json.Marshal(title)
		if err != nil {
			return fmt.Errorf("write table: %w", err)
		}
		columns.Write(b)
		columns.WriteString(",")
	}
	fmt.Fprintf(w, page, o.page, columns.String(), data)
	return nil
}
