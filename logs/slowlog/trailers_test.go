package slowlog

import (
	"slices"
	"testing"
	"time"
)

// TestTrailers holds the class of a statement to be that without the comment that
// names its route, wherever that stands, and of others to be as it was.
func TestTrailers(t *testing.T) {
	f := func(trim bool, want int, statements ...string) {
		t.Helper()
		var tags []string
		table := NewTable(Options{Trailers: trim, Each: func(e *Event, _ int) { tags = append(tags, string(e.Tags())) }})
		for _, s := range statements {
			table.Add(&Event{Start: time.Unix(1, 0), Statement: []byte(s)})
		}
		if n := len(table.Classes()); n != want {
			t.Errorf("%q: %d classes, want %d", statements, n, want)
		}
		if len(statements) > 1 && !slices.Contains(tags, "route:GET%20%2Fa") && !slices.Contains(tags, "buy") {
			t.Errorf("%q: tags %q", statements, tags)
		}
	}
	route := []string{"SELECT a FROM t WHERE b = 1", "/*route='GET%20%2Fa'*/ SELECT a FROM t WHERE b = 2", "SELECT a FROM t WHERE b = 3 /*route='GET%20%2Fa'*/", "SELECT a FROM t WHERE b = 4/* route:GET%20%2Fa */;"}
	f(true, 1, route...)
	f(false, 3, route...) // a blank and a semicolon are left
	f(true, 2, "COMMIT", "COMMIT /* buy */")
	f(true, 1, "/* only:a comment */")
	f(true, 1, "SELECT '/* a=b */'")
	f(true, 1, "SELECT a /*! STRAIGHT_JOIN=1 */")
}

// TestSums holds what a class adds up of bytes, and rows by the second.
func TestSums(t *testing.T) {
	table := NewTable(Options{})
	for i := range 4 {
		table.Add(&Event{Start: time.Unix(int64(1+i/2), 0), Statement: []byte("SELECT a FROM t"), Cost: Cost{RowsSent: 3, BytesSent: 100, QueryTime: time.Millisecond}})
	}
	for _, s := range []string{"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"} {
		table.Add(&Event{Start: time.Unix(1, 0), Statement: []byte(s)})
	}
	for _, q := range table.Queries() {
		switch q.Verb {
		case "SELECT":
			if q.BytesSent != 400 || q.Seconds[1].Rows != 6 || q.Seconds[2].Rows != 6 || q.SingleRow != 0 {
				t.Errorf("%+v", q)
			}
		case "INSERT":
			if q.SingleRow != 2 || q.BytesSent != 0 {
				t.Errorf("%+v", q)
			}
		}
	}
}

// TestDoubleQuotes: statements of a session whose names stand in double quotes are apart by
// their tables, and have them.
func TestDoubleQuotes(t *testing.T) {
	table := NewTable(Options{KeepRaw: true})
	for _, s := range []string{`SELECT "name" FROM "users" WHERE "id" = 1`, `SELECT "name" FROM "users" WHERE "id" = 2`,
		`SELECT "title" FROM "nodes" WHERE "id" = 1`, "SELECT `title` FROM `nodes` WHERE `id` = 3", `SELECT name FROM users WHERE id = "1"`} {
		table.Add(&Event{Start: time.Unix(1, 0), Statement: []byte(s)})
	}
	var got []string
	for _, q := range table.Queries() {
		got = append(got, q.Sample)
		if len(q.Tables) != 1 {
			t.Errorf("%s: tables %q", q.Sample, q.Tables)
		}
		if q.Sample == "SELECT `title` FROM `nodes` WHERE `id` = ?" && q.Calls != 2 {
			t.Errorf("%d calls of %s, %s", q.Calls, q.Sample, q.Raw)
		}
	}
	slices.Sort(got)
	want := []string{"SELECT `name` FROM `users` WHERE `id` = ?", "SELECT `title` FROM `nodes` WHERE `id` = ?", "SELECT name FROM users WHERE id = ?"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
