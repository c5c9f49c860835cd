package explain

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// Mask replaces the values that a statement was sent with in the texts of a plan,
// as far as they are SQL: conditions, ranges, operations. Figures stay.
func Mask(plan *kasoku.Plan) {
	if plan.Format == "table" {
		return // its rows name no values
	}
	d := json.NewDecoder(strings.NewReader(plan.Text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		plan.Text = masked(plan.Text) // a tree of MySQL's
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(maskTree("", tree)); err == nil {
		plan.Text = b.String()
	}
}

// maskTree masks the texts below a value that is known by a key.
func maskTree(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = maskTree(k, v[k])
		}
	case []any:
		for i := range v {
			v[i] = maskTree(key, v[i])
		}
	case string:
		if holdsSQL(key) {
			return masked(v)
		}
	}
	return v
}

// holdsSQL reports whether what stands under a key can hold values of a statement.
//
// Sources: MySQL 9.7 manual, "EXPLAIN Output Format" and explain_json_format_version;
// MariaDB documentation, "EXPLAIN FORMAT=JSON".
func holdsSQL(key string) bool {
	for _, part := range []string{"condition", "range", "operation", "expression", "query", "sort", "filter",
		"message", "lookup", "ref"} {
		if strings.Contains(key, part) {
			return key != "query_cost" && key != "query_type" && key != "ref"
		}
	}
	return false
}

func masked(s string) string {
	return string(sqlshape.AppendMasked(nil, []byte(s), 2*len(s)+64))
}
