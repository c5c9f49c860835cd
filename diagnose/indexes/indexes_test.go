package indexes

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

const create = "CREATE TABLE `orders` (\n  `id` bigint NOT NULL,\n  `customer_id` bigint NOT NULL,\n  `state` varchar(20) NOT NULL,\n  `price` int NOT NULL,\n  `rank` int NOT NULL,\n  `paid` datetime DEFAULT NULL,\n" +
	"  `note` text,\n  `lat` double NOT NULL,\n  `lng` double NOT NULL,\n  PRIMARY KEY (`id`),\n  KEY `by_state` (`state`)\n) ENGINE=InnoDB"

// proposals returns what is proposed for statements that take a second each.
func proposals(version string, statements ...string) string {
	rec := &kasoku.Recording{
		Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: version}},
		Tables: []kasoku.TableDef{{Name: "orders", Create: create, Engine: "InnoDB", Rows: 30000, DataBytes: 6 << 20, Indexes: []kasoku.IndexDef{
			{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{30000}}, {Name: "by_state", Columns: []string{"state"}, Cardinality: []int64{5}}}}},
	}
	for i, s := range statements {
		verb, _, _ := strings.Cut(s, " ")
		rec.Queries = append(rec.Queries, kasoku.Query{ID: string(rune('A' + i)), Verb: verb, Fingerprint: strings.ToLower(s), Sample: s, Tables: []string{"orders"},
			Calls: 100, Total: time.Second, RowsExamined: 3_000_000, RowsSent: 2000})
	}
	a, err := Propose(rec)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, p := range a.Proposals {
		out = append(out, p.Why+" ("+columnsOf(p.Columns)+")")
	}
	return strings.Join(out, "; ")
}

func TestPropose(t *testing.T) {
	f := func(want string, statements ...string) {
		t.Helper()
		if got := proposals("11.4.2-MariaDB", statements...); got != want {
			t.Errorf("%s:\n got %s\nwant %s", statements, got, want)
		}
	}
	f("", "SELECT * FROM orders WHERE id = ?")
	f("", "SELECT * FROM elsewhere WHERE a = ?")
	f("", "SELECT ( FROM")
	f("equality (customer_id)", "SELECT * FROM orders WHERE customer_id = ?")
	f("mixed (price DESC, id)", "SELECT * FROM orders ORDER BY price DESC, id ASC LIMIT ?")
	f("equality (customer_id, price)", "SELECT * FROM orders WHERE customer_id = ? ORDER BY price DESC LIMIT ?")
	if got := proposals("10.6.1-MariaDB", "SELECT * FROM orders ORDER BY price DESC, id ASC LIMIT ?"); got != "" {
		t.Errorf("a server without descending parts: %s", got)
	}
	if quoteName("rank") != "`rank`" || quoteName("a-b") != "`a-b`" || quoteName("plain") != "plain" {
		t.Error("quotes")
	}
}

func FuzzStatement(f *testing.F) {
	for _, s := range []string{"SELECT * FROM orders WHERE a IN (?+) LIMIT ?", "UPDATE orders SET price = ? WHERE lat < ?", "SELECT a.id FROM orders a JOIN orders b ON a.id = b.price WHERE ST_Contains(?, POINT(a.lat, a.lng))", "select max(price) from orders group by ?", "DELETE FROM orders WHERE (((", "SELECT ?, …"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { proposals("9.7.0", s) })
}

// TestReservedNames: each reserved word is quoted, also one at the end of a line of the list.
func TestReservedNames(t *testing.T) {
	for _, name := range []string{"groups", "check", "databases", "key", "zerofill", "Rank"} {
		if got := QuoteName(name); got != "`"+name+"`" {
			t.Errorf("%s is written %s", name, got)
		}
	}
}
