package encode

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/kasoku/kasoku/report"
)

// CSV writes the tables of a document as comma-separated values with a line of
// names, quoted as RFC 4180 says. Values are those of [TSV]. Several tables are
// parted by a blank line.
//
// A cell that a spreadsheet would take for a formula is text from a log: it gets an
// apostrophe in front, which is what spreadsheets themselves write.
func CSV(w io.Writer, d *report.Document) error {
	c := csv.NewWriter(w)
	first := true
	d.Tables(func(s *report.Section, t *report.Table) {
		if !first {
			c.Flush()
			io.WriteString(w, "\n") // the writer keeps its own error; the next row meets it again
		}
		first = false
		containedTable(s, func() { csvTable(c, t) })
	})
	for _, text := range lostParts() {
		_ = c.Write([]string{"# lost: " + field(text)}) // Flush reports it
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

func csvTable(c *csv.Writer, t *report.Table) {
	var names []string
	for _, col := range t.Columns {
		if !col.Bars {
			names = append(names, field(col.Key))
		}
	}
	_ = c.Write(names) // Flush reports it
	for _, r := range t.Rows {
		var fields []string
		for i, x := range r.Cells {
			if t.Columns[i].Bars {
				continue
			}
			s := field(value(x))
			if x.Raw == "" {
				s = harmless(s)
			}
			fields = append(fields, s)
		}
		if r.Group == "" {
			_ = c.Write(fields) // Flush reports it
		}
	}
}

// harmless keeps a spreadsheet from running text.
func harmless(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@') {
		return "'" + s
	}
	return s
}
