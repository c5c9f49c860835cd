package statements

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/report/recorded"
)

func TestTransactionName(t *testing.T) {
	queries := []kasoku.Query{{ID: "A", Verb: "SELECT", Tables: []string{"stock", "items"}}, {ID: "B", Verb: "SAVEPOINT"}}
	for _, x := range []struct {
		t    kasoku.Transaction
		want string
	}{
		{kasoku.Transaction{Shape: []string{"A", "B"}, Verbs: "SELECT SAVEPOINT"}, "SELECT stock, SAVEPOINT"},
		{kasoku.Transaction{Shape: []string{"A"}, Verbs: "SELECT …", Tag: "buy"}, "SELECT stock, … /* buy */"},
		{kasoku.Transaction{Shape: []string{"A", "gone"}, Verbs: "SELECT UPDATE"}, "SELECT UPDATE"},
		{kasoku.Transaction{Tag: "x"}, "(no statement) /* x */"},
	} {
		if got := TransactionName(&x.t, NamesOf(queries)); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

func TestHabits(t *testing.T) {
	q := func(verb string, calls, distinct, repeated, streaks uint64) kasoku.Query {
		return kasoku.Query{ID: "0123456789", Verb: verb, Tables: []string{"users"}, Calls: calls, Distinct: distinct, Repeated: repeated, Streak: 20, Streaks: streaks}
	}
	bulk := q("INSERT", 1000, 900, 1, 900)
	bulk.HasAffected, bulk.RowsAffected = true, 50_000
	noTable := q("SELECT", 1000, 1, 1000, 0)
	noTable.Tables = nil
	for _, x := range []struct {
		name string
		q    kasoku.Query
		want string // how the note begins
	}{
		{"one query per row", q("SELECT", 1000, 900, 3, 500), "One query per row: 50.0 % of 1,000 calls"},
		{"half is needed", q("SELECT", 1000, 900, 3, 499), ""},
		{"one insert per row", q("INSERT", 1000, 900, 3, 900), "One INSERT per row: "},
		{"inserts of many rows", bulk, ""},
		{"the same again", q("SELECT", 1000, 2, 700, 0), "Asked again: 70.0 % of 1,000 calls"},
		{"updates again", q("UPDATE", 1000, 2, 700, 0), ""},
		{"no table: SELECT 1", noTable, ""},
		{"few calls", q("SELECT", 99, 1, 99, 99), ""},
		{"an older file", q("SELECT", 1000, 0, 0, 0), ""},
	} {
		n := habits([]kasoku.Query{x.q})
		switch {
		case n == nil && x.want != "", n != nil && x.want == "", n != nil && !strings.HasPrefix(n.List[0].Text, x.want):
			t.Errorf("%s: %+v, want %q", x.name, n, x.want)
		case n != nil && n.List[0].Label != "23456789":
			t.Errorf("%s: label %q", x.name, n.List[0].Label)
		}
	}
	// A class that takes no time is not worth a line, however often it is asked.
	dear, cheap := q("SELECT", 1000, 2, 700, 0), q("SELECT", 1000, 2, 700, 0)
	dear.Total, cheap.Total = time.Second, 9*time.Millisecond
	if n := habits([]kasoku.Query{dear, cheap}); len(n.List) != 1 {
		t.Errorf("%d notes, want 1", len(n.List))
	}
	if n := habits(slices.Repeat([]kasoku.Query{q("SELECT", 1000, 1, 1000, 0)}, 9)); len(n.List) != mostHabits {
		t.Errorf("%d notes, want %d", len(n.List), mostHabits)
	}
}

// TestQueriesSection_Digests: the queries are statement digests, and what the slow log lost is said.
func TestQueriesSection_Digests(t *testing.T) {
	rec := &kasoku.Recording{Warnings: []kasoku.Warning{{Code: kasoku.CodeDigests}}, Queries: []kasoku.Query{{ID: "A", Fingerprint: "select ?", Calls: 3, Latency: histogram.New()}},
		Logs: []kasoku.LogWindow{{Kind: "slowlog", Lines: 9, Dropped: 9, Note: "a bug of kasoku"}}}
	const want = "From statement digests of performance_schema, those of the most total time first. Slow log: 9 lines, 9 bad; a bug of kasoku."
	if got := string(QueriesSection(recorded.View{Recording: rec}).Sub); got != want {
		t.Errorf("%q", got)
	}
	rec.Queries = append(rec.Queries, rec.Queries[0])
	rec.Queries[0].Host, rec.Queries[1].Host, rec.Warnings[0].Host = "one", "two", "two"
	const merged = "From the slow log of one and statement digests of performance_schema of two, " +
		"those of the most total time first."
	if got := string(QueriesSection(recorded.View{Recording: rec}).Sub); !strings.HasPrefix(got, merged) {
		t.Errorf("%q", got)
	}
}
