package explain

import "testing"

// TestPlanRows: MariaDB writes which part of the rows a rowid filter leaves beside them.
func TestPlanRows(t *testing.T) {
	rows := planRows([][]string{{"select_type", "table", "type", "key", "rows", "filtered"},
		{"PRIMARY", "issue", "ref|filter", "r|c", "852 (50%)", "50.00"}, {"PRIMARY", "repository", "index", "f", "12", ""}})
	if len(rows) != 2 || rows[0].Rows != 852 || rows[0].Filtered != 50 || rows[1].Rows != 12 || rows[1].Filtered != -1 {
		t.Errorf("%+v", rows)
	}
}
