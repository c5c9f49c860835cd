package sqlshape

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVerb(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		if got := Verb([]byte(sql)); got != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
	f("", "")
	f("select 1", "SELECT")
	f("/* a */ -- b\n ((SELECT 1) UNION (SELECT 2))", "SELECT")
	f("INSERT INTO t VALUES (1)", "INSERT")
	f("with recursive a as (select 1), b(c) as (select 2) update t set x=1", "UPDATE")
	f("WITH a AS (SELECT 1", "WITH")
	f("administrator command: Quit", "ADMIN")
	f("COMMIT /* x */", "COMMIT")
	f("'x'", "")
	f("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "")
}

func TestTables(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		if got := strings.Join(Tables([]byte(sql)), " "); got != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
	f("", "")
	f("SELECT 1", "")
	f("SELECT 1 FROM DUAL", "")
	f("select * from a", "a")
	f("select * from `a b`.`c` as d, e f, g where x in (select y from h)", "a b.c e g h")
	f("select * from a join b on a.x=b.x left join c using (x) where a.y=1", "a b c")
	f("select * from (select * from a) b, c", "a c")
	f("(select 1 from a) union all (select 2 from b)", "a b")
	f("select extract(year from d), trim(leading 'x' from e), substring(f from 2) from a", "a")
	f("select * from a for update", "a")
	f("select * from a where b = 'from c' -- from d", "a")
	f("select a.b from a; select 1 from b", "a b")
	f("select 1 into outfile '/tmp/x' from a", "a")
	f("select 1 into @v from a", "a")
	f("insert into a (b) values (1) on duplicate key update b=1", "a")
	f("INSERT IGNORE `a` SELECT * FROM b", "a b")
	f("insert low_priority into d.a set x=1", "d.a")
	f("replace into a values (1)", "a")
	f("select replace(a, 'b', 'c') from d", "d")
	f("update a set b=1 where c=2", "a")
	f("update ignore a x, b y set x.c=y.c", "a b")
	f("update a inner join b on a.c=b.c set d=1", "a b")
	f("delete from a where b=1", "a")
	f("delete a from a join b", "a b")
	f("with x as (select * from a), y (c) as (select c from x) select * from x join y join b", "a b")
	f("create table if not exists a (b int)", "a")
	f("drop table if exists a, b", "a b")
	f("alter table a add index (b)", "a")
	f("truncate a", "a")
	f("truncate table a", "a")
	f("lock tables a read, b write", "a b")
	f("load data infile 'x' into table a", "a")
	f("show columns from a", "a")
	f("call a(1)", "")
	f("set x = 1", "")
	f("administrator command: Prepare", "")
	f("commit", "")
	f("from from from", "")
	f("select * from", "")
	f("select * from a.", "a")
}

func TestAppendMasked(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		if got := string(AppendMasked(nil, []byte(sql), 300)); got != want {
			t.Errorf("%q:\n got %q\nwant %q", sql, got, want)
		}
	}
	f("INSERT INTO t VALUES (7, NOW(3), CURRENT_TIMESTAMP (6), now(9), f(3))", "INSERT INTO t VALUES (?, NOW(3), CURRENT_TIMESTAMP (6), now(?), f(?))")
	f("", "")
	f("SELECT  a,\n\tb FROM `t`  WHERE c='it''s' AND d=\"x\\\"y\" AND e=-1.5e-3", "SELECT a, b FROM `t` WHERE c=? AND d=? AND e=-?")
	f("SELECT 0x1f, x'1f', b'01', N'a', _utf8mb4'b', .5, 1., t.5x", "SELECT ?, ?, ?, ?, ?, ?, ?, t.5x")
	f("SELECT 2nd FROM t_1 LIMIT 5", "SELECT 2nd FROM t_1 LIMIT ?")
	f("SELECT 'a\x00b", "SELECT ?")
	f("SELECT `a'b", "SELECT `a?")
	f("COMMIT /* RegisterScores */", "COMMIT /* RegisterScores */")
	f("SELECT 1 /*traceparent='00-abc',route=\"x\"*/", "SELECT ? /*traceparent=?,route=?*/")
	f("SELECT 1 -- who='me'\n, 2 # it's", "SELECT ? /* who=? */ , ? /* it? */")
	f("SELECT /*!40001 SQL_NO_CACHE */ 'x'", "SELECT /*!40001 SQL_NO_CACHE */ ?")
	f("INSERT INTO t VALUES (1,'a'),(2,'b'), (3,')') ON DUPLICATE KEY UPDATE a=4", "INSERT INTO t VALUES (?,?), … ON DUPLICATE KEY UPDATE a=?")
	f("INSERT INTO t VALUES (f(1),2)", "INSERT INTO t VALUES (f(?),?)")
	f("SELECT VALUES(a), b", "SELECT VALUES(a), b")
	f("SELECT a WHERE b IN ("+strings.Repeat("1, ", 99)+"2) AND c=3", "SELECT a WHERE b IN ("+strings.Repeat("?, ", 19)+"?, …) AND c=?")
	f("SELECT "+strings.Repeat("a", 400)+" x", "SELECT "+strings.Repeat("a", 293)+"…")
	f("SELECT a\x1b[31mb", "SELECT a [31mb")
}

func TestTag(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		if got := string(Tag([]byte(sql))); got != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
	f("COMMIT", "")
	f("COMMIT /* RegisterScores */", "RegisterScores")
	f("/* POST /api/isu */ commit", "POST /api/isu")
	f("ROLLBACK /*a*/ /*b*/", "a")
	f("SELECT 1 /* a */", "")
	f("COMMIT /*traceparent='00-abc'*/", "")
	f("COMMIT /*!50000 x */", "")
	f("COMMIT /* */", "")
	f("COMMIT /* a", "a")
	f("/* a */", "")
	f("COMMIT /* "+strings.Repeat("a", 65)+" */", "")
}

func TestEqualities(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		var got []string
		Equalities([]byte(sql), func(c, l []byte) bool {
			got = append(got, fmt.Sprintf("%s=%s", c, l))
			return true
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
	f("", "")
	f("update t set a=1", "")
	f("update t set a=1 where id='x'", "id=x")
	f("UPDATE `t` SET a=1 WHERE `t`.`deleted_at` IS NULL AND ((`t`.`id` = 'x') AND b = 7)", "id=x b=7")
	f("select * from t where a>=1 and b<>2 and c!=3 and d=e and f in (4) and g in (5,6) and h in (select 1)", "f=4")
	f("select * from t where a = 'it''s' limit 1", "a=it''s")
	f("select * from t where a = 'open", "")
	f("select * from t where a = b = 1 and in in in", "b=1")
	f("select * from t where where", "")
}

func TestValues(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		var got []string
		Values([]byte(sql), func(c, l []byte) bool {
			got = append(got, fmt.Sprintf("%s=%s", c, l))
			return true
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
	f("", "")
	f("INSERT INTO `t` (`id`,a,b) VALUES ('x', 2, now()), ('y',f(3),-4) ON DUPLICATE KEY UPDATE a=5", "id=x a=2 id=y")
	f("insert into t values (1,null,'z')", "=1 =z")
	f("insert into t set id='x', a=1+1, `b`=2 on duplicate key update a=3", "id=x a=1 b=2")
	f("insert into t (a) select b from c where d=1", "")
	f("insert into t (a,b", "")
	f("insert into t (a) values ('x", "")
	f("replace into t values ((1),2)", "=2")
}

func TestUnclosed(t *testing.T) {
	f := func(sql string, want byte) {
		t.Helper()
		if got := Unclosed([]byte(sql)); got != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
	f("select 1", 0)
	f("select 'it''s'", 0)
	f(`select 'a\'b'`, 0)
	f("select 'a", '\'')
	f(`select 'a\'`, '\'')
	f(`select x"a`, '"')
	f("select `a``b", '`')
	f("select /* a", '*')
	f("select /* it's */ 1 -- isn't\n", 0)
	f("select /*! 'a' ", 0)
	f("select '\\", '\'')
}

// slowUnclosed asks the lexer.
func slowUnclosed(sql []byte) byte {
	l := NewLexer(sql)
	for {
		t := l.Raw()
		switch {
		case t.Kind == End:
			return 0
		case !t.Open:
		case t.Kind == Comment:
			return '*'
		default:
			return t.Text[bytes.IndexAny(t.Text, "'\"`")]
		}
	}
}

// FuzzShape checks that any bytes have a shape: nothing panics or runs for
// ever, tokens cover all but blanks, and no literal survives the mask.
func FuzzShape(f *testing.F) {
	for _, g := range golden {
		f.Add([]byte(g.sql))
	}
	for _, q := range quirks {
		f.Add([]byte(q.sql))
	}
	f.Add([]byte("with x as (select * from a), y (c) as (select c from x) select * from x where id in (1)"))
	f.Add([]byte("insert into t (a,`b`) values (1,'x'),(2,'y') on duplicate key update a=1"))
	f.Fuzz(func(t *testing.T, sql []byte) {
		var tokens []byte
		l := NewLexer(sql)
		for tok := l.Raw(); tok.Kind != End; tok = l.Raw() {
			if len(tok.Text) == 0 {
				t.Fatalf("%q: an empty token of kind %d at %d", sql, tok.Kind, l.pos)
			}
			tokens = append(tokens, tok.Text...)
			tok.Unquoted()
		}
		if !bytes.Equal(withoutSpace(tokens), withoutSpace(sql)) {
			t.Fatalf("%q: tokens %q", sql, tokens)
		}
		if text, locks, ok := PlainText(sql); ok {
			if again, plain := PlainSelect(text); !plain || again != locks {
				t.Fatalf("%q: sent as %q", sql, text)
			}
		}
		masked := AppendMasked(nil, sql, 200)
		if len(masked) > 220 {
			t.Fatalf("%q: a mask of %d bytes", sql, len(masked))
		}
		if utf8.Valid(sql) && bytes.ContainsFunc(masked, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("%q: control bytes in %q", sql, masked)
		}
		m := NewLexer(masked)
		for tok := m.Raw(); tok.Kind != End && !bytes.Contains(masked, []byte("…")) && utf8.Valid(sql); tok = m.Raw() {
			if tok.Literal() && !bytes.ContainsAny(sql, "/#-.") {
				t.Fatalf("%q: %q left in %q", sql, tok.Text, masked)
			}
		}
		if n := len(Tables(sql)); n > maxTables {
			t.Fatalf("%q: %d tables", sql, n)
		}
		Verb(sql)
		Tag(sql)
		if got, want := Unclosed(sql), slowUnclosed(sql); got != want {
			t.Fatalf("%q: open %q, want %q", sql, got, want)
		}
		Equalities(sql, func(_, _ []byte) bool { return true })
		Values(sql, func(_, _ []byte) bool { return true })
	})
}

func withoutSpace(b []byte) []byte {
	var out []byte
	for _, c := range b {
		if !isSpace(c) {
			out = append(out, c)
		}
	}
	return out
}
