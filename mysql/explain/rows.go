package explain

import (
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
)

// planRows reads the rows of EXPLAIN by the names of their columns.
func planRows(answer [][]string) []kasoku.PlanRow {
	var out []kasoku.PlanRow
	for _, row := range answer[min(1, len(answer)):] {
		p := kasoku.PlanRow{Filtered: -1}
		for i, name := range answer[0] {
			planCell(&p, name, row[i])
		}
		out = append(out, p)
	}
	return out
}

// planCell describes which field of a row a column of EXPLAIN fills.
func planCell(p *kasoku.PlanRow, name, value string) {
	number := func(to *float64) {
		// "852 (50%)": of which a rowid filter leaves 50 % (MariaDB, "Rowid Filtering Optimization").
		first, _, _ := strings.Cut(value, " ")
		if v, err := strconv.ParseFloat(first, 64); err == nil {
			*to = v
		}
	}
	switch strings.ToLower(name) {
	case "select_type":
		p.Select = value
	case "table":
		p.Table = value
	case "type":
		p.Access = value
	case "possible_keys":
		p.PossibleKeys = value
	case "key":
		p.Key = value
	case "key_len":
		p.KeyLen = value
	case "ref":
		p.Ref = value
	case "rows":
		number(&p.Rows)
	case "filtered":
		number(&p.Filtered)
	case "extra":
		p.Extra = value
	}
}
