package indexes

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestBy_LookedUp: what a server looks up by a unique key is one row, also where the text of the statement does not
// show with which column of it the join is, as a fingerprint does not with a derived table called anon_1.
func TestBy_LookedUp(t *testing.T) {
	primary := &index{name: "PRIMARY", unique: true, parts: []Part{{Column: "name"}, {Column: "run"}}, card: []int64{4, 80_000}}
	rows := func(way string) float64 {
		a := &access{table: &table{rows: 80_000, have: []*index{primary}}, query: &kasoku.Query{Verb: "SELECT", Calls: 1},
			equal: []string{"name"}, place: place{beside: true}}
		a.step = &kasoku.PlanRow{Access: way, Key: "PRIMARY", Rows: 1}
		r, ok := a.by(primary)
		if !ok {
			t.Fatalf("%s: cannot be read so", way)
		}
		return r.rows
	}
	if got := rows("eq_ref"); got > 1 {
		t.Errorf("eq_ref: %v rows", got)
	}
	if got := rows("ref"); got < 10_000 {
		t.Errorf("ref, of which the plan is a guess: %v rows", got)
	}
}
