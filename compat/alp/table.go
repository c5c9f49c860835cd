package alp

import (
	"fmt"
	"strconv"
	"strings"
)

// A table is what is printed, whatever the format.
type table struct {
	titles []string
	keys   []string // the titles in JSON
	rows   [][]cell
	footer []string // nil: none; empty where a column has no sum
}

// A cell is a text, or a number that JSON has as a number.
type cell struct {
	text   string
	number bool
}

func numberCell(v float64, count bool) cell {
	if count {
		return cell{strconv.FormatInt(int64(v), 10), true}
	}
	return cell{strconv.FormatFloat(v, 'f', 3, 64), true}
}

// diffCell is a number with how much it is more or less than before.
func diffCell(to, from float64, count bool) cell {
	c := numberCell(to, count)
	delta := fmt.Sprintf("%+.3f", to-from)
	if count {
		delta = fmt.Sprintf("%+d", int64(to)-int64(from))
	}
	if delta == "+0" || delta == "+0.000" {
		return c
	}
	return cell{c.text + " (" + delta + ")", false}
}

// A column is one of --output.
type column struct {
	figure
	text func(*stat) string // not nil for method and URI
}

// columns returns those of --output.
func (o *options) columns() ([]column, error) {
	percents, err := o.percents()
	if err != nil {
		return nil, err
	}
	var all []column
	for _, f := range figuresOf(percents) {
		if f.key == "min" {
			all = append(all,
				column{figure{key: "method", title: "Method"}, func(s *stat) string { return s.method }},
				column{figure{key: "uri", title: "Uri"}, o.shownURI})
		}
		all = append(all, column{figure: f})
	}
	var out []column
	for key := range strings.SplitSeq(o.output, ",") {
		if key == "all" {
			return all, nil
		}
		found := false
		for _, c := range all {
			if c.key == key && !found {
				out, found = append(out, c), true
			}
		}
		if !found {
			return nil, fmt.Errorf("--output %q: no column %q", o.output, key)
		}
	}
	return out, nil
}

func (o *options) shownURI(s *stat) string {
	if o.uris.decode {
		return decodeName(s.uri)
	}
	return s.uri
}

// table returns the rows of a sorted profile. When from is not nil, numbers are
// the difference from it, except in classes that it lacks.
func (p profile) table(o *options, from profile) (*table, error) {
	columns, err := o.columns()
	if err != nil {
		return nil, err
	}
	before := map[[2]string]*stat{}
	for _, s := range from {
		before[[2]string{s.method, s.uri}] = s
	}
	t := &table{}
	for _, c := range columns {
		t.titles, t.keys = append(t.titles, c.title), append(t.keys, c.key)
	}
	for _, s := range p {
		var row []cell
		for _, c := range columns {
			old := before[[2]string{s.method, s.uri}]
			switch {
			case c.text != nil:
				row = append(row, cell{text: c.text(s)})
			case old != nil:
				row = append(row, diffCell(c.of(s), c.of(old), c.count))
			default:
				row = append(row, numberCell(c.of(s), c.count))
			}
		}
		t.rows = append(t.rows, row)
	}
	if o.showFooters {
		t.footer = p.footer(columns, from)
	}
	return t, nil
}

// footer sums up the counts.
func (p profile) footer(columns []column, from profile) []string {
	var out []string
	for _, c := range columns {
		if c.text != nil || !c.count {
			out = append(out, "")
			continue
		}
		if from == nil {
			out = append(out, numberCell(p.total(c), true).text)
			continue
		}
		out = append(out, diffCell(p.total(c), from.total(c), true).text)
	}
	return out
}

func (p profile) total(c column) (sum float64) {
	for _, s := range p {
		sum += c.of(s)
	}
	return sum
}
