package sqlshape

import (
	"testing"
)

// TestPlainSelect: what is sent to a server because it is a SELECT is one, and no more.
func TestPlainSelect(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		got := "no"
		if locks, ok := PlainSelect([]byte(sql)); ok {
			if got = "reads"; locks {
				got = "locks"
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", sql, got, want)
		}
	}
	for _, sql := range []string{
		"SELECT 1", "select 1 ; ", "(SELECT 1) UNION (SELECT 2)", "/* shop:GET / */ SELECT `into` FROM pinto WHERE note = 'go into; it'",
		"SELECT 'a\x01;\x7f', 'b'", "WITH a AS (SELECT 1) SELECT * FROM a", "SELECT 'it\\'s'", "SELECT /*+ NO_ICP(t) */ a FROM t -- to the end", "SELECT a, \"b\" FROM t USE INDEX FOR ORDER BY (i)",
	} {
		f(sql, "reads")
	}
	f("SELECT 1 FROM t FOR UPDATE", "locks")
	f("SELECT 1 FROM t FOR/**/SHARE SKIP LOCKED", "locks")
	f("SELECT 1 FROM t LOCK\nIN SHARE MODE", "locks")
	for _, sql := range []string{
		"", "SET GLOBAL general_log = ON", "KILL 3", "SHUTDOWN", "BEGIN NOT ATOMIC DROP TABLE t; END", "ANALYZE SELECT 1", "EXPLAIN ANALYZE SELECT 1",
		"SELECT 1 INTO\nOUTFILE '/tmp/x'", "SELECT 1 INTO/**/DUMPFILE '/tmp/x'", "SELECT 1 INTO @a", "SELECT 1.INTO OUTFILE '/tmp/x'", "SELECT 1e5INTO OUTFILE '/tmp/x'",
		"SELECT .5into @a", "WITH a AS (SELECT 1) DELETE FROM t", "SELECT 1; SET GLOBAL read_only = 1", "SELECT 1; ;", "INSERT INTO t SELECT 1",
		"/*!99999 SELECT */ SET GLOBAL a = 1", "/*M!100000 SELECT */ KILL 3", "SELECT 1 /*!50000 INTO OUTFILE '/tmp/x' */", "SELECT 1 */ FROM t",
		`SELECT 'a\' INTO OUTFILE "/tmp/x" -- '`, "SELECT ';' --\x7f '\n INTO OUTFILE '/tmp/x' -- '", "SELECT 1 --\x7f '\n INTO OUTFILE '/tmp/x' -- '", `SELECT "a\"; KILL 3 -- "`, "SELECT 'open", "SELECT 1 /* open",
	} {
		f(sql, "no")
	}
}

// TestPlainText: strings are written so that no sql_mode reads more than one SELECT.
func TestPlainText(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		got, _, ok := PlainText([]byte(sql))
		if string(got) != want || !ok {
			t.Errorf("%q: %q %v, want %q", sql, got, ok, want)
		}
	}
	f(`SELECT 'it\'s'`, `SELECT 'it\'s'`) // nothing could hide in it
	f(`SELECT 'it\'s; "', "\"'"`, `SELECT 'it''s; "', '"'''`)
	f("SELECT * FROM t WHERE k = _binary'a\\'\\0;\xff'", "SELECT * FROM t WHERE k = _binary 0x6127003bff")
	f("SELECT * FROM t WHERE k = _binary /**/ 'a\\\\;'", "SELECT * FROM t WHERE k = _binary /**/  0x615c3b")
	f(`SELECT 'a\%;\n'`, "SELECT _utf8mb4 0x615c253b0a")
	f("SELECT '\\\\;\xff' /* ; */", "SELECT _binary 0x5c3bff /* ; */")
	f(`SELECT 'a''\0;' FOR UPDATE`, "SELECT _utf8mb4 0x6127003b FOR UPDATE")
	if _, locks, _ := PlainText([]byte(`SELECT ';\'' FOR UPDATE`)); !locks {
		t.Error("a lock is not seen")
	}
	for _, sql := range []string{
		`SELECT 'a\\' INTO OUTFILE '/tmp/x' -- '`, `SELECT 'a\''; KILL 3`, "SELECT `a\\`; KILL 3",
		`SELECT N'a\';'`, "SELECT 'a\\'' --\x7f; KILL 3", `SELECT 'a\';`,
	} {
		if got, _, ok := PlainText([]byte(sql)); ok {
			t.Errorf("%q: %q", sql, got)
		}
	}
}
