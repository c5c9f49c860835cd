package application

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestCountedTable: a count of all rows is one, a count of some is not.
func TestCountedTable(t *testing.T) {
	for text, want := range map[string]string{
		"select count(*) from teams":                         "teams",
		"select count(?) as n from `shop`.`teams`":           "teams",
		"select count(*) n from shop.teams for update":       "teams",
		"select count(*) from `teams`":                       "teams",
		"select count(*) from teams where event_id = ?":      "",
		"select count(*) from teams join members using (id)": "",
		"select count(*) from teams, members":                "",
		"select count(distinct name) from teams":             "",
		"select count(*), max(id) from teams":                "",
		"select count(*) from teams group by event_id":       "",
		"select id from teams":                               "",
	} {
		if got := countedTable(&kasoku.Query{Verb: "SELECT", Fingerprint: text}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := countedTable(nil); got != "" {
		t.Errorf("no statement: %q", got)
	}
}
