package ptquerydigest

import (
	"fmt"
	"strings"
)

// A column is one of the profile's, with its values from top to bottom.
type column struct {
	head   string
	right  bool // aligned
	fixed  int  // width; 0 is found
	values []string
}

// profile prints one line per class that is reported and one for all the others.
func (p *printer) profile(d *digest) {
	p.line("# Profile")
	columns := d.profile()
	widths := widthsOf(columns)
	var head, rule []string
	for i, c := range columns {
		if i < len(columns)-1 {
			head = append(head, padText(c.head, widths[i], false))
		} else {
			head = append(head, c.head)
		}
		rule = append(rule, strings.Repeat("=", widths[i]))
	}
	p.line("%s", trimLine("# "+strings.Join(head, " "), lineWidth))
	p.line("%s", trimLine("# "+strings.Join(rule, " "), lineWidth))
	for row := range columns[0].values {
		var cells []string
		for i, c := range columns {
			s := c.values[row]
			if i < len(columns)-1 {
				s = padText(cutText(s, widths[i]), widths[i], c.right)
			}
			cells = append(cells, s)
		}
		p.line("# %s", strings.Join(cells, " "))
	}
}

func padText(s string, n int, right bool) string {
	if right {
		return fmt.Sprintf("%*s", n, s)
	}
	return fmt.Sprintf("%-*s", n, s)
}

// profile returns the columns of a profile.
func (d *digest) profile() []column {
	columns := []column{
		{head: "Rank", right: true}, {head: "Query ID"}, {head: "Response time", right: true},
		{head: "Calls", right: true},
		{head: "R/Call", right: true}, {head: "V/M", right: true, fixed: 5}, {head: "Item"},
	}
	add := func(cells ...string) {
		for i := range columns {
			columns[i].values = append(columns[i].values, cells[i])
		}
	}
	whole, _ := d.overall.number(queryTime)
	share := func(t float64) string {
		if whole.Sum == 0 {
			return fmt.Sprintf("%.4f %4.1f%%", t, 0.0)
		}
		return fmt.Sprintf("%.4f %4.1f%%", t, t/whole.Sum*100)
	}
	var rest float64
	var calls, items uint64
	for _, c := range d.classes {
		t, _ := c.number(queryTime)
		if c.reason == "" {
			rest += t.Sum
			calls += c.calls
			items++
			continue
		}
		id, item := "0x", c.key
		if d.groupBy == byFingerprint {
			id, item = "0x"+checksumOf(c.key), c.item
		}
		add(fmt.Sprint(c.rank), id, share(t.Sum), fmt.Sprint(c.calls), fmt.Sprintf("%.4f", t.Sum/float64(c.calls)),
			fmt.Sprintf("%5.2f", c.vm()), item)
	}
	if items > 0 {
		add("MISC", "0xMISC", share(rest), fmt.Sprint(calls), fmt.Sprintf("%.4f", rest/float64(calls)), "  0.0",
			fmt.Sprintf("<%d ITEMS>", items))
	}
	return columns
}

// widthsOf returns how wide columns are. The columns whose width is not fixed
// start out with an equal share of the line, but at least with their shortest and
// at most with their longest value; what the short ones leave over lets the others
// grow, all by the same. So it is the ID that gets shorter when other columns are
// wide, and only when a MISC line, whose ID is short, is there.
func widthsOf(columns []column) []int {
	out := make([]int, len(columns))
	auto := 0
	for _, c := range columns {
		if c.fixed == 0 {
			auto++
		}
	}
	share := lineWidth * (100 / auto) / 100
	over := 0
	longest := make([]int, len(columns))
	for i, c := range columns {
		if c.fixed > 0 {
			out[i], longest[i] = c.fixed, c.fixed
			continue
		}
		least := 0
		for k, v := range c.values {
			longest[i] = max(longest[i], len(v))
			if k == 0 || len(v) < least {
				least = len(v)
			}
		}
		switch {
		case share > longest[i]:
			out[i] = longest[i]
			over += share - longest[i]
		case share < least:
			out[i] = least
		default:
			out[i] = share
		}
	}
	for i, c := range columns {
		switch {
		case len(c.values) > 0:
			out[i] = max(min(out[i]+over, longest[i]), len(c.head))
		case c.fixed == 0:
			out[i] = share
		}
	}
	return out
}
