package digest

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
)

// The texts are those of MariaDB 10.11.19 and MySQL 9.7.4.
func TestPlain(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := plain(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	f("REPLACE INTO `shop` . `t` VALUES (...) /* , ... */ ", "REPLACE INTO shop.t VALUES (?, ?)")
	f("EXECUTE SELECT COUNT ( * ) , `a` FROM `shop` . `t` `t1` WHERE `id` > ? AND `a` IN (...) GROUP BY `a`",
		"SELECT COUNT(*), a FROM shop.t t1 WHERE id > ? AND a IN (?, ?) GROUP BY a")
	f("PREPARE SELECT ?", prepare)
	f("DEALLOCATE SELECT ?", deallocate)
	f("PREPARE `s` FROM ?", "PREPARE s FROM ?")
	f("EXECUTE `s` ", "EXECUTE s")
	f("DEALLOCATE PREPARE `s`", "DEALLOCATE PREPARE s")
	f("INSERT INTO `users` ( `id` , `odd name` ) VALUES ( ? , ? )", "INSERT INTO users (id, `odd name`) VALUES (?, ?)")
	f("SELECT `u` . * FROM `u` WHERE `a` >= ? AND `b` != ? AND `c` <> ?", "SELECT u.* FROM u WHERE a >= ? AND b != ? AND c <> ?")
	f("COMMIT ", "COMMIT")
	f("", "")
}

// A digest and the statement that it stands for are of one class.
func TestPlain_Fingerprint(t *testing.T) {
	f := func(digest, statement string) {
		t.Helper()
		var s sqlshape.Shaper
		got, want := string(s.Fingerprint([]byte(plain(digest)))), ""
		want = string(s.Fingerprint([]byte(statement)))
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f("SELECT `id` , `name` FROM `users` WHERE `id` = ? LIMIT ?", "SELECT id, name FROM users WHERE id = 3 LIMIT 1")
	f("INSERT INTO `t` ( `a` , `b` ) VALUES (...)", "INSERT INTO t (a, b) VALUES (1, 'x')")
	f("SELECT COUNT ( * ) FROM `t` WHERE `a` IN (...)", "SELECT COUNT(*) FROM t WHERE a IN (1, 2, 3)")
	f("UPDATE `t` SET `a` = `a` + ? WHERE `id` = ?", "UPDATE t SET a = a + 1 WHERE id = 7")
}

func TestQueries(t *testing.T) {
	key := func(schema, id string) mysql.DigestKey { return mysql.DigestKey{Schema: schema, ID: id} }
	before := &mysql.Digests{Lost: 5, Classes: map[mysql.DigestKey]mysql.Digest{
		key("a", "1"): {Text: "SELECT `x` FROM `t`", Calls: 10, Total: time.Second, Buckets: []mysql.Bucket{{Low: 90, High: 100, Calls: 10}}},
		key("a", "2"): {Text: "COMMIT", Calls: 3},
	}}
	after := &mysql.Digests{Lost: 7, Classes: map[mysql.DigestKey]mysql.Digest{
		key("a", "1"): {Text: "SELECT `x` FROM `t`", Calls: 14, Total: 3 * time.Second, RowsSent: 8, Sample: "SELECT x FROM t /* 7 */",
			Buckets: []mysql.Bucket{{Low: 90, High: 100, Calls: 11}, {Low: 200, High: 210, Calls: 3}}},
		key("a", "2"): {Text: "COMMIT", Calls: 3},
		key("b", "1"): {Text: "EXECUTE SELECT `x` FROM `t`", Calls: 1, Total: time.Second},
	}}
	added, restarted := after.Since(before)
	if restarted || added.Lost != 2 || len(added.Classes) != 2 {
		t.Errorf("restarted %t, %+v", restarted, added)
	}
	qs := Queries(added)
	if len(qs) != 1 {
		t.Fatalf("%+v", qs)
	}
	q := qs[0]
	if q.Fingerprint != "select x from t" || q.Calls != 5 || q.Total != 3*time.Second || q.RowsSent != 8 || q.Verb != "SELECT" ||
		len(q.Tables) != 1 || len(q.ID) != 32 || q.Latency.Count() != 4 || q.Latency.Max() != 205 || q.Sample != "SELECT x FROM t" ||
		q.Raw != "SELECT x FROM t /* 7 */" || q.Schema != "a" {
		t.Errorf("%+v", q)
	}
	for _, cut := range []string{"", "SELECT a, b FROM ...", strings.Repeat("x", 1024)} {
		if whole(cut) {
			t.Errorf("%.30q is whole", cut)
		}
	}
	if again, restarted := before.Since(after); !restarted || again.Lost != 5 || again.Classes[key("a", "1")].Calls != 10 {
		t.Errorf("counted anew: %t, %+v", restarted, again)
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"SELECT ( * ) , `a` . `b` IN (...)", "EXECUTE", "EXECUTE SELECT", "PREPARE `x", "...", ". .", "`` ` '"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := plain(text); len(got) > 3*len(text)+len(deallocate) {
			t.Errorf("%q grew to %q", text, got)
		}
	})
}
