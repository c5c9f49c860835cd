package encode

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/report"
)

// TSV writes every table of the document, and its timelines second by second, as
// tab-separated values with a line of names. Values are raw, in the unit that the
// name says; what was not measured is empty. Where there are several tables, each
// begins with a line "# section table" and a blank line parts them.
func TSV(w io.Writer, d *report.Document) error {
	b := bufio.NewWriter(w)
	n := 0
	d.Tables(func(*report.Section, *report.Table) { n++ })
	first := true
	d.Tables(func(s *report.Section, t *report.Table) {
		if n > 1 {
			if !first {
				b.WriteByte('\n')
			}
			fmt.Fprintf(b, "# %s %s\n", field(s.ID), field(t.ID))
		}
		first = false
		containedTable(s, func() { tsvTable(b, t) })
	})
	for _, text := range lostParts() {
		fmt.Fprintf(b, "# lost: %s\n", field(text))
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write tsv: %w", err)
	}
	return nil
}

func tsvTable(b *bufio.Writer, t *report.Table) {
	grouped := false
	for _, r := range t.Rows {
		grouped = grouped || r.Group != ""
	}
	var names []string
	if grouped {
		names = append(names, "group")
	}
	for _, c := range t.Columns {
		if !c.Bars {
			names = append(names, field(c.Key))
		}
	}
	b.WriteString(strings.Join(names, "\t") + "\n")
	group := ""
	for _, r := range t.Rows {
		if r.Group != "" {
			group = r.Group
			continue
		}
		var fields []string
		if grouped {
			fields = append(fields, field(group))
		}
		for i, c := range r.Cells {
			if !t.Columns[i].Bars {
				fields = append(fields, field(value(c)))
			}
		}
		b.WriteString(strings.Join(fields, "\t") + "\n")
	}
}

// value is what a machine reads of a cell.
func value(c report.Cell) string {
	switch {
	case c.Raw != "":
		return c.Raw
	case c.Text == unit.Missing:
		return ""
	}
	return c.Text
}

// field keeps a value in its field: tabs and line ends become spaces.
func field(s string) string { return logs.Printable(s) }
