package recording

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// TestMessages_Nginx: lines of nginx's error log are distinguished from the application's.
func TestMessages_Nginx(t *testing.T) {
	r := recorded.View{Recording: &kasoku.Recording{
		Logs: []kasoku.LogWindow{{Kind: "errorlog", Lines: 3, Note: "nginx writes no warnings"}},
		Messages: []kasoku.Message{
			{Sample: "upstream timed out", Kind: kasoku.MessageNginx, Level: "error", Count: 2}, {Sample: "put order", Level: "error", Count: 1},
		},
	}}
	s := MessagesSection(r)
	table := s.Blocks[0].(*report.Table)
	if !strings.HasPrefix(string(s.Sub), "From the logs of the application and of nginx, lines") || !strings.Contains(string(s.Sub), "no warnings") {
		t.Errorf("%q", s.Sub)
	}
	for i, want := range []string{"nginx", "application"} {
		if row := table.Rows[i]; len(row.Cells) != len(table.Columns) || table.Columns[3].Key != "of" || row.Cells[3].Text != want {
			t.Errorf("%+v", row)
		}
	}
}
