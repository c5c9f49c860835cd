package sqlshape

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parts are what statements are made of, with what a fingerprint treats in a way
// of its own.
var parts = []string{
	"SELECT ", "select", " FROM ", "t", "users_2009", " WHERE ", "a", "id", "=", " ", "\n", "\t", ",", "(", ")", " IN (", "in(", " VALUES (",
	"value (", "values", "INSERT INTO t (a) VALUES ", "REPLACE INTO t VALUES (1),", "1", "-1", "+2", "0xff", "0xFF", "1.5e-3", "12ab", "b1", "x", ".",
	"'a'", "'b c'", "''", "'it''s'", "'1'", "'", "'a # b'", "'-- c'", "'# \n d'", "'e--\\'#f'", "\r", "\"x\"", "\"", "\\'", "\\\\", "\\\"", "\\", "?", "true", "false", "TRUE", "null", "NULL", "tnull",
	"/* c */", "/*", "*/", "/*! x */", "-- c\n", "--", "#", "# it's\n", " union all select ", " UNION ", " limit ", " offset ", " order by ", " asc", " desc",
	"1, 2", "(1,2),(3)", "('a','b')", "x'41'", "_utf8'z'", "f", "e", "call p(1)", "use x", "administrator command: Ping", "1false", "1true", "-true", "a.b",
}

func statement(rt *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 14).Draw(rt, label), "")
}

// otherLiterals replaces the literals of a statement by others, as far as one can
// see without reading SQL.
func otherLiterals(rt *rapid.T, sql string) string {
	return strings.NewReplacer("'a'", "'zz z'", "'b c'", "'1,(2)'", "'1'", "'select'", "12ab", "9", "1.5e-3", "7.25", "1, 2", "3,4, 5", "(1,2),(3)", "(9)").Replace(sql)
}

func TestSketch_SameKeySameFingerprint(t *testing.T) {
	seen := map[uint64]string{}
	rapid.Check(t, func(rt *rapid.T) {
		var s Shaper
		sql := statement(rt, "sql")
		for _, q := range []string{sql, otherLiterals(rt, sql)} {
			key, got := s.Sketch([]byte(q)).Key, slowFingerprint(q)
			if want, ok := seen[key]; ok && got != want {
				rt.Fatalf("%q has the key of another statement: %q, and not %q", q, got, want)
			}
			seen[key] = got
		}
	})
}

// What is read as it is has the key that it has when it is prepared first.
func TestSketch_PlainAsPrepared(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var s Shaper
		sql := []byte("SELECT a " + statement(rt, "sql"))
		k, ok := plainSketch(sql)
		if !ok {
			return
		}
		q, whole := s.prepare(sql)
		if want, _ := keyOf(q, false); whole || k.Key != want {
			rt.Fatalf("%q has the key %x, prepared %x", sql, k.Key, want)
		}
	})
}

func TestSketch_OneKey(t *testing.T) {
	f := func(same bool, a, b string) {
		t.Helper()
		var s Shaper
		x, y := s.Sketch([]byte(a)), s.Sketch([]byte(b))
		if (x.Key == y.Key) != same {
			t.Errorf("%q and %q: same key is %v", a, b, !same)
		}
	}
	f(true, "SELECT * FROM t WHERE a = 1 AND b = 'x'", "SELECT * FROM t WHERE a = 234 AND b = 'yy, (z)'")
	f(true, "SELECT * FROM t WHERE a IN (1,2,3)", "SELECT * FROM t WHERE a IN (7)")
	f(true, "SELECT * FROM t WHERE a in ('a', 'b') and 1=1", "SELECT * FROM t WHERE a in ('b') and 2=2")
	f(true, "INSERT INTO t (a) VALUES (1),(2),(3)", "INSERT INTO t (a) VALUES (9),(8)")
	f(true, "SELECT /* x:1 */ 1", "SELECT /* x:2 */ 1")
	f(false, "SELECT f(1, 2)", "SELECT f(1)")
	f(false, "SELECT a", "select a") // one fingerprint, two keys
	f(false, "SELECT 1true", "SELECT 1-true")
	f(false, "SELECT 0xFF", "SELECT 0xFE")
}

func TestSketch_Text(t *testing.T) {
	f := func(same bool, a, b string) {
		t.Helper()
		var s Shaper
		if x, y := s.Sketch([]byte(a)), s.Sketch([]byte(b)); (x.Text == y.Text) != same {
			t.Errorf("%q and %q: same text is %v", a, b, !same)
		}
	}
	f(true, "SELECT 1 /*traceparent='00-a'*/", "SELECT 1 /*traceparent='00-b'*/")
	f(false, "SELECT 1", "SELECT 2")
	f(false, "INSERT INTO t VALUES (1),(2)", "INSERT INTO t VALUES (1),(3)")
	f(false, strings.Repeat("a", 16), strings.Repeat("a", 17))
	f(false, "abcdefgh12345678x", "abcdefgh12345678y")
	for n := range 40 { // every byte counts
		a := strings.Repeat("q", 40)
		f(false, a, fmt.Sprint(a[:n], "r", a[n+1:]))
	}
	var s Shaper
	if got := s.Sketch([]byte("SELECT * FROM t WHERE id = 1")).Text; got != 0x299f208137a87046 {
		t.Errorf("text %#x: the estimates that a run keeps would change", got)
	}
}

func TestSketch_Flags(t *testing.T) {
	var s Shaper
	if k := s.Sketch([]byte("INSERT INTO t VALUES (1),(2)")); !k.Rows || k.Commented {
		t.Errorf("%+v", k)
	}
	if k := s.Sketch([]byte("INSERT INTO t VALUES (1) /* x */")); k.Rows || !k.Commented {
		t.Errorf("%+v", k)
	}
}

func FuzzSketch(f *testing.F) {
	for _, g := range golden {
		f.Add([]byte(g.sql))
	}
	for _, q := range quirks {
		f.Add([]byte(q.sql))
	}
	for _, p := range parts {
		f.Add([]byte("SELECT a " + p + " 1 'x' " + p))
	}
	seen := map[uint64]string{}
	f.Fuzz(func(t *testing.T, sql []byte) {
		if len(sql) > 1000 {
			return
		}
		var s Shaper
		key := s.Sketch(sql).Key
		got := string(s.Fingerprint(sql))
		if want, ok := seen[key]; ok && got != want {
			t.Fatalf("%q has the key of another statement: %q, and not %q", sql, got, want)
		}
		seen[key] = got
	})
}
