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
	f("", "SELECT SUM(price) FROM orders WHERE id > ?") // the table is in that order
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

// TestPropose_Sorted: the server finds rows by an index of columns that hold one value, and sorts
// them all, although an index that it does not use has the order. One with both leads it there.
func TestPropose_Sorted(t *testing.T) {
	def := kasoku.TableDef{Name: "posts", Engine: "InnoDB", Rows: 6000, DataBytes: 150 << 20,
		Create: "CREATE TABLE `posts` (\n  `id` varchar(24) NOT NULL,\n  `html` longtext,\n  `type` varchar(50) NOT NULL,\n" +
			"  `status` varchar(50) NOT NULL,\n  `updated_at` datetime,\n  `published_at` datetime,\n  PRIMARY KEY (`id`),\n" +
			"  KEY `p` (`published_at`),\n  KEY `tsu` (`type`,`status`,`updated_at`)\n) ENGINE=InnoDB",
		Columns: []kasoku.ColumnSample{{Name: "type", Rows: 4000, Distinct: 1, Most: 4000},
			{Name: "status", Rows: 4000, Distinct: 1, Most: 4000}},
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{6000}},
			{Name: "p", Columns: []string{"published_at"}, Cardinality: []int64{6000}},
			{Name: "tsu", Columns: []string{"type", "status", "updated_at"}, Cardinality: []int64{1, 1, 6000}}}}
	f := func(extra, want string) {
		t.Helper()
		sql := "SELECT id, html FROM posts WHERE status = ? AND type = ? ORDER BY published_at DESC LIMIT ?"
		rec := &kasoku.Recording{Tables: []kasoku.TableDef{def},
			Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "9.7.0"}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql,
				Tables: []string{"posts"}, Calls: 56, Total: 21 * time.Second, RowsExamined: 100259, RowsSent: 681}},
			Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
				{Table: "posts", Access: "ref", Key: "tsu", Rows: 3000, Extra: extra}}}}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range a.Proposals {
			got = append(got, p.Why+" ("+columnsOf(p.Columns)+")")
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", extra, got, want)
		}
	}
	f("Using filesort", WrongOrder+" (type, status, published_at)")
	f("Backward index scan", "")
}

// issues is a table of issues of several projects, as bug trackers have it.
var issues = kasoku.TableDef{Name: "issue", Engine: "InnoDB", Rows: 20000, DataBytes: 20 << 20,
	Create: "CREATE TABLE `issue` (\n  `id` bigint NOT NULL,\n  `repo_id` bigint,\n  `name` varchar(255),\n  `content` longtext,\n" +
		"  `is_closed` tinyint(1),\n  `is_pull` tinyint(1),\n  `created` bigint,\n  PRIMARY KEY (`id`),\n  KEY `r` (`repo_id`),\n" +
		"  KEY `c` (`is_closed`),\n  KEY `p` (`is_pull`)\n) ENGINE=InnoDB",
	Columns: []kasoku.ColumnSample{{Name: "is_pull", Rows: 4000, Distinct: 1, Most: 4000}},
	Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{20000}},
		{Name: "r", Columns: []string{"repo_id"}, Cardinality: []int64{24}}, {Name: "c", Columns: []string{"is_closed"}, Cardinality: []int64{2}},
		{Name: "p", Columns: []string{"is_pull"}, Cardinality: []int64{2}}}}

// TestPropose_Join: of a statement with other tables an index saves rows of its own table alone, and
// none that a rowid filter leaves out today; one that covers it has the columns of one value too.
func TestPropose_Join(t *testing.T) {
	f := func(sql string, examined uint64, want string, steps ...kasoku.PlanRow) {
		t.Helper()
		rec := &kasoku.Recording{
			Tables: []kasoku.TableDef{issues, {Name: "repository", Engine: "InnoDB", Rows: 12, Create: "CREATE TABLE `repository` (\n  `id` bigint NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
				Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{12}}}}},
			Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "10.11.6-MariaDB"}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql,
				Tables: []string{"issue", "repository"}, Calls: 10, Total: 20 * time.Second, RowsExamined: 10 * examined, RowsSent: 10}},
			Plans: []kasoku.Plan{{QueryID: "A", Rows: append([]kasoku.PlanRow{{Select: "PRIMARY", Table: "repository", Access: "index", Rows: 12, Filtered: 100}}, steps...)}}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range a.Proposals {
			got = append(got, columnsOf(p.Columns))
			if after := p.Serves[0].After; after < 8000 || after > 14000 {
				t.Errorf("%s: %v rows of %d are left, by an index that takes a third out", sql, after, examined)
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	of := " FROM issue INNER JOIN repository ON issue.repo_id = repository.id WHERE issue.is_closed = ? AND issue.is_pull = ?"
	f("SELECT COUNT(issue.id)"+of, 20012, "repo_id, is_closed, is_pull",
		kasoku.PlanRow{Select: "PRIMARY", Table: "issue", Access: "ref", Key: "r", Rows: 853, Filtered: 25})
	f("SELECT COUNT(*)"+of+" AND LOWER(issue.name) LIKE ?", 45000, "",
		kasoku.PlanRow{Select: "PRIMARY", Table: "issue", Access: "ref|filter", Key: "r|c", Rows: 853, Filtered: 50})
	f("SELECT COUNT(*)"+of+" AND (issue.name LIKE ? OR issue.id IN (SELECT issue_id FROM comment WHERE content LIKE ?))", 90000, "",
		kasoku.PlanRow{Select: "PRIMARY", Table: "issue", Access: "ref|filter", Key: "r|c", Rows: 853, Filtered: 50},
		kasoku.PlanRow{Select: "DEPENDENT SUBQUERY", Table: "comment", Access: "ref", Key: "i", Rows: 3, Filtered: 100})
}

// TestPropose_Lookups: the latest comments, each with its ticket: a LIMIT of the first table, where
// the other has one row for each of its rows.
func TestPropose_Lookups(t *testing.T) {
	f := func(sql, access, want string) {
		t.Helper()
		rec := &kasoku.Recording{
			Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "9.7.0"}},
			Tables: []kasoku.TableDef{
				{Name: "comments", Engine: "InnoDB", Rows: 147343, DataBytes: 24 << 20,
					Create: "CREATE TABLE `comments` (\n  `id` bigint NOT NULL,\n  `ticket_id` bigint,\n  `body` text,\n  `created_at` datetime(6),\n" +
						"  PRIMARY KEY (`id`),\n  KEY `t` (`ticket_id`)\n) ENGINE=InnoDB",
					Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{147343}},
						{Name: "t", Columns: []string{"ticket_id"}, Cardinality: []int64{30000}}}},
				{Name: "tickets", Engine: "InnoDB", Rows: 28543, DataBytes: 12 << 20,
					Create:  "CREATE TABLE `tickets` (\n  `id` bigint NOT NULL,\n  `title` varchar(255),\n  `status` varchar(9),\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
					Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{28543}}}}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Sample: sql, Fingerprint: strings.ToLower(sql), Tables: []string{"comments", "tickets"},
				Calls: 12, Total: 16 * time.Second, RowsSent: 120, RowsExamined: 12 * 150030}},
			Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
				{Table: "c1_0", Access: "ALL", Rows: 147343, Extra: "Using where; Using filesort"},
				{Table: "t1_0", Access: access, Key: "PRIMARY", Rows: 1}}}},
		}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range a.Proposals {
			got += columnsOf(p.Columns)
		}
		if got != want {
			t.Errorf("%s, %s: %q, want %q", sql, access, got, want)
		}
	}
	of := "SELECT c1_0.id, c1_0.body, t1_0.id, t1_0.title FROM comments c1_0 JOIN tickets t1_0 ON t1_0.id = c1_0.ticket_id"
	f(of+" ORDER BY c1_0.created_at DESC LIMIT ?", "eq_ref", "created_at")
	f(of+" ORDER BY c1_0.created_at DESC", "eq_ref", "")                               // all are read
	f(of+" ORDER BY c1_0.created_at DESC LIMIT ?", "ref", "")                          // each may find none, or many
	f(of+" WHERE t1_0.status = ? ORDER BY c1_0.created_at DESC LIMIT ?", "eq_ref", "") // how many it goes through is not known
	f(of+" ORDER BY t1_0.title LIMIT ?", "eq_ref", "")
}

// TestHidden: LIKEs of an OR are noted where each of its parts is about the rows, also in LOWER.
func TestHidden(t *testing.T) {
	f := func(where, want string) {
		t.Helper()
		sql := "SELECT id FROM issue WHERE " + where
		rec := &kasoku.Recording{Tables: []kasoku.TableDef{issues},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql, Raw: sql, Tables: []string{"issue"}, Calls: 1, Total: time.Second}}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range a.Reads() {
			for _, h := range r.Hidden {
				word := h.Column + " " + h.Pattern
				if h.Folded {
					word += " folded"
				}
				got = append(got, word)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
	f("name LIKE '%a%'", "name wild")
	f("LOWER(name) LIKE '%a%'", "name wild folded")
	f("(LOWER(name) LIKE '%a%' OR UPPER(content) LIKE 'a%' OR id IN (SELECT issue_id FROM comment WHERE content LIKE '%a%'))", "name wild folded, content text folded")
	f("(5 = 5 OR name LIKE '%a%')", "")                                                     // values decide alone
	f("(name LIKE ? ESCAPE ? OR lower(content) LIKE ? escape ?)", "name , content  folded") // as Hibernate writes it
	f("(name NOT LIKE '%a%' OR content LIKE '%a%')", "")
	f("(name LIKE '%a%' OR MATCH (content) AGAINST ('a' IN BOOLEAN MODE))", "") // no index of words serves an OR
	f("FIND_IN_SET (?, content) AND repo_id = 7", "content ")
	f("FIND_IN_SET(name, content)", "")
	f("NOT FIND_IN_SET(?, content)", "")
	f("name LIKE '%a%' AND id IN (SELECT MIN(repo_id) as ? FROM issue)", "name wild") // AS "x", masked
	f("(id = 5 OR repo_id = 7)", "")
	f("(name RLIKE 'a' OR id = 'a' OR content REGEXP ?)", "name wild, content wild")
	f("(name NOT REGEXP 'a' OR content REGEXP 'b')", "")
	f("name REGEXP content", "")
}

// TestPropose_Counted: rows that are counted for each value of a list are read, by whatever index.
func TestPropose_Counted(t *testing.T) {
	sql := "SELECT COUNT(*) AS n, repo_id FROM issue WHERE is_closed <> ? AND repo_id IN(?+) GROUP BY repo_id"
	def := issues
	def.Indexes = append([]kasoku.IndexDef{}, def.Indexes...)
	def.Indexes[1].Cardinality = []int64{500} // 40 rows each
	rec := &kasoku.Recording{Tables: []kasoku.TableDef{def},
		Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "10.11.6-MariaDB"}},
		Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql,
			Tables: []string{"issue"}, Calls: 100, Total: 20 * time.Second, RowsExamined: 200_000, RowsSent: 5000}},
		Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{{Select: "SIMPLE", Table: "issue", Access: "range",
			Key: "r", Rows: 2000, Filtered: 100}}}}}
	a, err := Propose(rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Proposals {
		if after := p.Serves[0].After; after < 1900 {
			t.Errorf("(%s): %v rows are counted, of 2,000 in 50 groups", columnsOf(p.Columns), after)
		}
	}
	// Groups of another size than most: what is examined today says how many rows they are.
	rec.Tables[0].Indexes[1].Cardinality = []int64{1200}
	if a, err = Propose(rec); err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Proposals {
		if after := p.Serves[0].After; after < 1900 {
			t.Errorf("(%s): %v rows are counted, of 2,000 that are examined today", columnsOf(p.Columns), after)
		}
	}
}

// TestPropose_Derived: MySQL does not count what a derived table reads; its plan says how much that is, and
// MariaDB counts it.
func TestPropose_Derived(t *testing.T) {
	f := func(version, order, extra, want string) {
		t.Helper()
		sql := "SELECT t.price FROM (SELECT price, ROW_NUMBER() OVER (PARTITION BY state ORDER BY id) AS n FROM orders WHERE " +
			"customer_id = ?" + order + ") t WHERE t.n = ?"
		rec := &kasoku.Recording{Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: version}},
			Tables: []kasoku.TableDef{{Name: "orders", Create: create, Engine: "InnoDB", Rows: 30000, DataBytes: 6 << 20,
				Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{30000}}}}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql, Tables: []string{"orders"},
				Calls: 100, Total: time.Second, RowsExamined: 300, RowsSent: 300}},
			Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{{Select: "PRIMARY", Table: "<derived2>", Access: "ref", Rows: 4},
				{Select: "DERIVED", Table: "orders", Access: "ALL", Rows: 29800, Extra: "Using where" + extra}}}}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range a.Proposals {
			got += columnsOf(p.Columns)
			if s := p.Serves[0]; !s.Derived || s.Before < 29800 {
				t.Errorf("%s: %+v", version, s)
			}
		}
		if got != want {
			t.Errorf("%s, %s: got %q, want %q", version, order, got, want)
		}
	}
	f("9.7.0", "", "; Using filesort", "customer_id, state, price")
	f("11.4.2-MariaDB", "", "; Using filesort", "")
	f("9.7.0", " ORDER BY id LIMIT ?", "", "")
}

// TestPropose_Offset: the rows that an OFFSET skips are read, too; how many is known of a statement that was kept as
// it was sent.
func TestPropose_Offset(t *testing.T) {
	def := kasoku.TableDef{Name: "posts", Engine: "InnoDB", Rows: 30000,
		Create: "CREATE TABLE `posts` (\n  `id` int NOT NULL,\n  `category` int NOT NULL,\n  `published_at` datetime NOT NULL,\n" +
			"  PRIMARY KEY (`id`),\n  KEY `c` (`category`)\n) ENGINE=InnoDB",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{30000}},
			{Name: "c", Columns: []string{"category"}, Cardinality: []int64{5}}}}
	f := func(limit, raw string, after, skipped float64, skips bool) {
		t.Helper()
		sql := "SELECT id FROM posts WHERE category = ? ORDER BY published_at DESC"
		q := kasoku.Query{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql + limit), Sample: sql + limit,
			Tables: []string{"posts"}, Calls: 100, Total: 20 * time.Second, RowsExamined: 603_600, RowsSent: 1200}
		if raw != "" {
			q.Raw = strings.Replace(sql, "?", "3", 1) + raw
		}
		a, err := Propose(&kasoku.Recording{Tables: []kasoku.TableDef{def}, Queries: []kasoku.Query{q},
			Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "11.4.2-MariaDB"}}})
		if err != nil || len(a.Proposals) != 1 || len(a.Proposals[0].Serves) != 1 {
			t.Fatalf("%s%s: %+v, %v", limit, raw, a, err)
		}
		if s := a.Proposals[0].Serves[0]; s.After != after || s.Skipped != skipped || s.Skips != skips {
			t.Errorf("%s%s: %+v", limit, raw, s)
		}
	}
	f(" LIMIT ?", "", 12, 0, false)
	f(" LIMIT ? OFFSET ?", "", 12, 0, true)
	f(" LIMIT ?, ?", "", 12, 0, true)
	f(" LIMIT ?", " LIMIT 12", 12, 0, false)
	f(" LIMIT ? OFFSET ?", " LIMIT 12 OFFSET 48", 60, 48, true)
	f(" LIMIT ?, ?", " LIMIT 48, 12", 60, 48, true)
}
