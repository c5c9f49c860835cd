package sqlshape

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// golden holds fingerprints and ids that pt-query-digest 3.5.7 gave.
var golden = []struct{ sql, fingerprint, id string }{
	{"INSERT INTO t (a,b) VALUES (1,'x'), (2,'y') ON DUPLICATE KEY UPDATE b='z'", "insert into t (a,b) values(?+)", "0EE92DF8B341A2AAAF1606D0AA96CBCD"},
	{"SELECT * FROM t WHERE id IN (1,2,3) AND x NOT IN ('a','b')", "select * from t where id in(?+) and x not in(?+)", "A95BA4995931248A0D99DFF337415DFD"},
	{"UPDATE t SET stock = stock - 1, b=b+10 WHERE id=7", "update t set stock = stock ? ?, b=? where id=?", "883D3E34A4C56F792052832ECCF27261"},
	{"select 1 union all select 2 union all select 3", "select ? /*repeat union all*/", "D1A917A8E486CEF11E45DC298CA26C00"},
	{"USE `foo`", "use ?", "DD749893CA4A219A6C099B0B73EA7633"},
	{"CALL shop.restock(1,2)", "call shop.restock", "9791D2C9B14C57169CAD31D6815A3590"},
	{"SELECT a FROM t ORDER BY a ASC, b DESC, c ASC LIMIT 10 OFFSET 5", "select a from t order by a, b desc, c limit ?", "27FF51F0F01F4F5C47E2FFFBE524A930"},
	{"administrator command: Prepare", "administrator command: Prepare", "DA556F9115773A1A99AA0165670CE848"},
	{"COMMIT", "commit", "FFFCA4D67EA0A788813031B8BBC3B329"},
}

func TestFingerprint_Golden(t *testing.T) {
	var s Shaper
	for _, g := range golden {
		got := s.Fingerprint([]byte(g.sql))
		if string(got) != g.fingerprint {
			t.Errorf("%q: fingerprint %q, want %q", g.sql, got, g.fingerprint)
		}
		if id := ID(got); id != g.id {
			t.Errorf("%q: id %s, want %s", g.sql, id, g.id)
		}
		if slow := slowFingerprint(g.sql); slow != g.fingerprint {
			t.Errorf("%q: the slow way %q, want %q", g.sql, slow, g.fingerprint)
		}
	}
}

// quirks are statements at which the original's steps show.
var quirks = []struct{ sql, want string }{
	{"", ""},
	{" \n", ""},
	{"SELECT /*!40001 SQL_NO_CACHE */ * FROM `film`", "mysqldump"},
	{"REPLACE /*foo.bar:3/3*/ INTO checksum.checksum SELECT 1", "percona-toolkit"},
	{"CALL foo (1)", "call foo (?)"},
	{"  call f(g(1), 2)", "call f(g"},
	{"USE foo\n", "use ?\n"},
	{"use  foo", "use foo"},
	{"select \n--bar\n foo", "select foo"},
	{"select foo--bar\nfoo", "select foo foo"},
	{"select foo -- bar\n", "select foo "},
	{"select foo -- it's\n", "select foo ? it's"},
	{"/* -- a */SELECT 1", "select ?"},
	{"select /**/ 1 */ 2", "select ?"},
	{"select /*!40101 hello*/ 1", "select /*!? hello*/ ?"},
	{"select null, 5.001, 5001. from foo", "select ?, ?, ? from foo"},
	{"select 'hello', '\nhello\n', \"hello\", '\\'' from foo", "select ?, ?, ?, ? from foo"},
	{`select '\\' from foo`, "select ? from foo"},
	{"select 'it''s'", "select ?'s'"},
	{"select '' , ''", "select ? , ?"},
	{"select ''''", "select ?'"},
	{"'a'", "'a'"},
	{"select 0e0, +6e-30, -6.00 from foo where a = 5.5 or b=0.5 or c=.5", "select ?, ?, ? from foo where a = ? or b=? or c=?"},
	{"select 0x0, x'123', 0b1010, b'10101' from foo", "select ?, ?, ?, ? from foo"},
	{"select 0xFF", "select ?ff"},
	{"select * from foo where a in (5) and b in (5, 8,9 ,9 , 10)", "select * from foo where a in(?+) and b in(?+)"},
	{"select foo_1 from foo_2_3", "select foo_? from foo_?_?"},
	{"select 123foo from 123foo", "select ?oo from ?oo"},
	{"select B1, b1, X1", "select b?, ?, x?"},
	{"select utf8mb4", "select utf?m?"},
	{"insert into foo(a, b, c) value(2, 4, 5)", "insert into foo(a, b, c) value(?+)"},
	{"insert into foo values(1),(2)", "insert into foo values(?+)"},
	{"insert into foo values ()", "insert into foo values(?+)"},
	{"INSERT IGNORE INTO f VALUES ('a),(b')", "insert ignore into f values ('a)"},
	{"select * from foo limit 5, 10", "select * from foo limit ?"},
	{"select * from foo limit 5,10 ", "select * from foo limit ? "},
	{"select 1 union select 2 union select 4", "select ? /*repeat union*/"},
	{
		"select * from (select 1 union all select 2 union all select 4) as x join (select 2 union select 2 union select 3) as y",
		"select * from (select ? /*repeat union all*/) as x join (select ? /*repeat union*/) as y",
	},
	{"select a union select a, b", "select a /*repeat union*/, b"},
	{"select a union all select a union select a", "select a /*repeat union*/"},
	{"select * from t where i=1      order            by \n      a,  b          ASC, d    DESC,    \n  \n e asc", "select * from t where i=? order by a, b, d desc, e"},
	{"select a order by b, ascii(c)", "select a order by b,ii(c)"},
	{"SELECT * FROM tbl WHERE id=1 AND flag=true AND trueflag=FALSE", "select * from tbl where id=? and flag=? and trueflag=?"},
	{"select -false, 1.false, null1, true1", "select ??, ??, ??, true?"},
	{"COMMIT /* RegisterScores */", "commit "},
	{"/* a */ COMMIT", "commit"},
	{"select '\xff\xfe', `\xe3\x81\x82`", "select ?, `\xe3\x81\x82`"},
	{"SELECT a\vb", "select a\vb"},
}

func TestFingerprint_Quirks(t *testing.T) {
	var s Shaper
	for _, q := range quirks {
		if got := string(s.Fingerprint([]byte(q.sql))); got != q.want {
			t.Errorf("%q: got %q, want %q", q.sql, got, q.want)
		}
		if slow := slowFingerprint(q.sql); slow != q.want {
			t.Errorf("%q: the slow way %q, want %q", q.sql, slow, q.want)
		}
	}
}

// pieces make statements in which the steps of the fingerprint meet.
var pieces = strings.Split("select|SELECT |insert into t |INSERT |replace| ignore| into |values|values (|value(|in (|in(|IN|"+
	"call |use | from t|union|union all| union |select a| select a union | where |=|'|''|\"|\\|\\'|\\\\|'a'|\"b\"|"+
	"/*|*/|/*!|/**/|--|-- |#|\n|\r|\t|\v| |  |,|, |(|)|),(|) , (|?|x|b|.|+|-|1|0x1f|1.5e-3|9a|true|false|FALSE|"+
	"null|NULL|_|a|Z|X|B|limit |limit 1|offset | offset 2|order by |ORDER BY | asc|ASC|asc|`|/*a.b:1/2*/|\xff|é|administrator command: ", "|")

func TestFingerprint_AsTheSlowWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sql := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(rt, "pieces"), "")
		var s Shaper
		got, want := string(s.Fingerprint([]byte(sql))), slowFingerprint(sql)
		if got != want {
			rt.Fatalf("%q: got %q, want %q", sql, got, want)
		}
	})
}

func TestFingerprint_Allocation(t *testing.T) {
	var s Shaper
	for _, g := range golden {
		sql := []byte(g.sql)
		s.Fingerprint(sql)
		s.Fingerprint(sql)
		if n := testing.AllocsPerRun(100, func() { s.Fingerprint(sql) }); n != 0 {
			t.Errorf("%q allocates %v times", sql, n)
		}
		if n := testing.AllocsPerRun(100, func() { s.Sketch(sql) }); n != 0 {
			t.Errorf("the sketch of %q allocates %v times", sql, n)
		}
	}
}

func TestFingerprint_ManyUnions(t *testing.T) {
	var b bytes.Buffer
	for i := range 20_000 {
		b.WriteString("select a" + strings.Repeat("x", i%7+1) + " union ")
	}
	var s Shaper
	if got := s.Fingerprint(b.Bytes()); len(got) == 0 {
		t.Error("empty")
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, g := range golden {
		f.Add([]byte(g.sql))
	}
	for _, q := range quirks {
		f.Add([]byte(q.sql))
	}
	f.Fuzz(func(t *testing.T, sql []byte) {
		if len(sql) > 1000 {
			return // the slow way is slow
		}
		keep := bytes.Clone(sql)
		var s Shaper
		got := string(s.Fingerprint(sql))
		if want := slowFingerprint(string(sql)); got != want {
			t.Fatalf("%q: got %q, want %q", sql, got, want)
		}
		if again := string(s.Fingerprint(sql)); again != got {
			t.Fatalf("%q: got %q, then %q", sql, got, again)
		}
		if !bytes.Equal(keep, sql) {
			t.Fatalf("%q became %q", keep, sql)
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	for name, sql := range map[string]string{
		"select": "SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = 'b8c87393-c899-49da-87f1-af3e54f322b2' AND `timestamp` < '2021-08-21 10:00:00' ORDER BY `timestamp` DESC LIMIT 20",
		"insert": "INSERT INTO t (a,b,c) VALUES " + strings.Repeat("(1,'abcdefgh',3.5),", 1000) + "(1,'x',2)",
	} {
		b.Run("sql="+name, func(b *testing.B) {
			var s Shaper
			in := []byte(sql)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				s.Fingerprint(in)
			}
		})
	}
}

func BenchmarkSketch(b *testing.B) {
	for name, sql := range map[string]string{
		"select": "SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = 'b8c87393-c899-49da-87f1-af3e54f322b2' AND `timestamp` < '2021-08-21 10:00:00' ORDER BY `timestamp` DESC LIMIT 20",
		"insert": "INSERT INTO `isu_condition` (`jia_isu_uuid`, `timestamp`, `is_sitting`, `condition`, `message`) VALUES ('b8c87393-c899-49da-87f1-af3e54f322b2', '2021-08-21 10:00:00', 1, 'is_dirty=true,is_overweight=false,is_broken=false', 'x')",
	} {
		b.Run("sql="+name, func(b *testing.B) {
			var s Shaper
			in := []byte(sql)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				s.Sketch(in)
			}
		})
	}
}

// TestFingerprint_Binary: statements that differ in bytes alone are of one class, and
// of that of their plain value.
func TestFingerprint_Binary(t *testing.T) {
	var s Shaper
	want := string(s.Fingerprint([]byte("insert into f(id,body) values (1,_binary'x')")))
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SliceOfN(rapid.SampledFrom([]string{"''", `\\`, `\'`, `\"`, `"`, "(", "),(", "--", "/*", "#", "\n", "\x00", "\xff", "limit 1", "7"}), 0, 12).Draw(rt, "body")
		space := rapid.SampledFrom([]string{"", " "}).Draw(rt, "space")
		sql := "INSERT INTO f(id,body) VALUES (7,_binary" + space + "'" + strings.Join(body, "") + "')"
		got := strings.ReplaceAll(string(s.Fingerprint([]byte(sql))), "_binary ", "_binary")
		if got != want {
			rt.Fatalf("%q: %q, want %q", sql, got, want)
		}
	})
}
