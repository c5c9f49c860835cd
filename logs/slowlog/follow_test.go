package slowlog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// a call is one entry of a log that is made for a test.
type call struct {
	conn int
	sql  string
	at   int           // seconds
	took time.Duration // 1 ms when it is 0
}

// logOf makes a log as MariaDB writes it, or MySQL with times in microseconds.
func logOf(mysql bool, calls ...call) string {
	var b strings.Builder
	for _, c := range calls {
		if c.took == 0 {
			c.took = time.Millisecond
		}
		start := time.Unix(1795167353, 0).UTC().Add(time.Duration(c.at) * time.Second)
		if mysql {
			fmt.Fprintf(&b, "# Time: %s\n# User@Host: a[a] @ h []  Id: %d\n# Query_time: %.6f  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\n",
				start.Add(c.took).Format("2006-01-02T15:04:05.000000Z"), c.conn, c.took.Seconds())
		} else {
			fmt.Fprintf(&b, "# User@Host: a[a] @ h []\n# Thread_id: %d  Schema: s  QC_hit: No\n# Query_time: %.6f  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n# Rows_affected: 0  Bytes_sent: 1\n",
				c.conn, c.took.Seconds())
		}
		fmt.Fprintf(&b, "SET timestamp=%d;\n%s;\n", start.Unix(), c.sql)
	}
	return b.String()
}

// on makes calls over one connection, a second apart.
func on(conn int, statements ...string) []call {
	var out []call
	for i, s := range statements {
		out = append(out, call{conn: conn, sql: s, at: i})
	}
	return out
}

// TestTransactions: what a transaction took is exact where the log has microseconds; where it
// has whole seconds, after the slash, it is what is sure: one second less, or its statements'.
func TestTransactions(t *testing.T) {
	f := func(calls []call, want ...string) {
		t.Helper()
		for _, mysql := range []bool{false, true} {
			table := tableOf(t, logOf(mysql, calls...), Options{})
			var got []string
			for _, x := range table.Transactions() {
				if len(x.Shape) != len(strings.Fields(strings.TrimSuffix(x.Verbs, " …"))) {
					t.Errorf("shape %q, verbs %q", x.Shape, x.Verbs)
				}
				took := x.Total.Round(time.Second).String()
				got = append(got, fmt.Sprintf("%s%s %d×, %d rolled back, read-only %v, %d statements, %v",
					x.Verbs, x.Tag, x.Count, x.RolledBack, x.ReadOnly, x.Statements, took))
			}
			var exact []string
			for _, w := range want {
				head, took, _ := strings.Cut(w, "/")
				if !mysql {
					head = head[:strings.LastIndex(head, " ")+1] + took
				}
				exact = append(exact, head)
			}
			if !slices.Equal(got, exact) {
				t.Errorf("mysql %v, %v:\n got %q\nwant %q", mysql, calls, got, exact)
			}
		}
	}
	f(on(1, "BEGIN", "SELECT 1 FROM t", "COMMIT"), "SELECT 1×, 0 rolled back, read-only true, 1 statements, 2s/1s")
	f(on(1, "START TRANSACTION", "UPDATE t SET a=1", "INSERT INTO t VALUES (1)", "COMMIT /* Save */"), "UPDATE INSERTSave 1×, 0 rolled back, read-only false, 2 statements, 3s/2s")
	f(on(1, "BEGIN", "SELECT a FROM t WHERE b=1", "SELECT a FROM t WHERE b=2", "ROLLBACK"), "SELECT 1×, 1 rolled back, read-only true, 2 statements, 3s/2s")
	f(on(1, "BEGIN", "SELECT 1 FROM t FOR UPDATE", "COMMIT"), "SELECT 1×, 0 rolled back, read-only false, 1 statements, 2s/1s")
	f(on(1, "SELECT 1 FROM t", "COMMIT")) // no BEGIN: autocommit
	f(on(1, "SET autocommit=0", "SELECT 1 FROM t", "COMMIT", "INSERT INTO t VALUES (1)", "COMMIT", "SET @@autocommit = ON", "SELECT 2 FROM t"),
		"SELECT 1×, 0 rolled back, read-only true, 1 statements, 1s/0s", "INSERT 1×, 0 rolled back, read-only false, 1 statements, 1s/0s")
	f(on(1, "BEGIN", "SELECT 1 FROM t", "CREATE TABLE x (a int)", "INSERT INTO t VALUES (1)", "COMMIT"), "SELECT 1×, 0 rolled back, read-only true, 1 statements, 2s/1s")
	f(on(1, "BEGIN", "SAVEPOINT a", "SELECT 1 FROM t", "ROLLBACK TO SAVEPOINT a", "SHOW WARNINGS", "COMMIT"), "SELECT 1×, 0 rolled back, read-only true, 1 statements, 5s/4s")
	// Loops over a group of statements are one shape.
	loop := []string{"BEGIN"}
	for range 3 {
		loop = append(loop, "SELECT 1 FROM t", "UPDATE t SET a=1", "UPDATE t SET a=2")
	}
	f(on(1, append(loop, "COMMIT")...), "SELECT UPDATE 1×, 0 rolled back, read-only false, 9 statements, 10s/9s")
	// Connections do not mix, and transactions of one shape add up.
	f([]call{{1, "BEGIN", 0, 0}, {2, "BEGIN", 0, 0}, {1, "SELECT 1 FROM t", 1, 0}, {2, "SELECT 5 FROM t", 1, 0}, {2, "COMMIT", 2, 0}, {1, "COMMIT", 4, 0}},
		"SELECT 2×, 0 rolled back, read-only true, 2 statements, 6s/4s")
	f([]call{{1, "BEGIN", 0, 0}, {1, "SELECT 1 FROM t", 0, 3 * time.Second}, {1, "COMMIT", 3, 0}}, "SELECT 1×, 0 rolled back, read-only true, 1 statements, 3s/3s")
}

func TestTransactions_Bounded(t *testing.T) {
	var calls []call
	for i := range maxTransactions + 10 {
		calls = append(calls, on(1, "BEGIN", "SELECT "+strings.Repeat("a", i+1), "COMMIT")...)
	}
	table := tableOf(t, logOf(false, calls...), Options{})
	if n := len(table.Transactions()); n != maxTransactions {
		t.Errorf("%d classes", n)
	}
	if n := strings.Join(table.notes(), "; "); !strings.Contains(n, "10 transactions of rare shapes were left out") {
		t.Errorf("notes %q", n)
	}
	calls = []call{{1, "BEGIN", 0, 0}}
	for i := range 100 {
		calls = append(calls, call{1, "SELECT " + strings.Repeat("a", i+1), 0, 0})
	}
	x := tableOf(t, logOf(false, append(calls, call{1, "COMMIT", 0, 0})...), Options{}).Transactions()
	if len(x) != 1 || len(x[0].Shape) != maxShape || x[0].Statements != 100 || !strings.HasSuffix(x[0].Verbs, " …") {
		t.Errorf("%+v", x)
	}
}

func TestStreaks(t *testing.T) {
	f := func(streak, streaks uint64, statements ...string) {
		t.Helper()
		q := tableOf(t, logOf(false, on(7, statements...)...), Options{}).Queries()
		var most, all uint64
		for _, x := range q {
			most, all = max(most, x.Streak), all+x.Streaks
		}
		if most != streak || all != streaks {
			t.Errorf("%.60q…: streak %d, streaks %d, want %d, %d", statements, most, all, streak, streaks)
		}
	}
	times := func(n int, sql string) []string {
		var out []string
		for i := range n {
			out = append(out, strings.ReplaceAll(sql, "?", fmt.Sprint(i)))
		}
		return out
	}
	f(9, 0, times(9, "SELECT a FROM t WHERE id=?")...)
	f(12, 12, times(12, "SELECT a FROM t WHERE id=?")...)
	f(12, 23, append(append(times(12, "SELECT a FROM t WHERE id=?"), "SELECT 1"), times(11, "SELECT a FROM t WHERE id=?")...)...)
	f(10, 10, times(10, "INSERT INTO t VALUES (?)")...)
	f(0, 0, times(10, "INSERT INTO t VALUES (?),(1)")...) // several rows at once
}

func TestClass_Counts(t *testing.T) {
	var calls []call
	for i := range 40 {
		calls = append(calls, call{i % 3, fmt.Sprintf("SELECT /* controller:c%d,traceparent:%d */ a FROM t WHERE id=%d", i%2, i, i%20), i / 10, 0})
	}
	calls = append(calls, call{5, "SELECT  a FROM t WHERE id=3", 9, time.Second})
	calls = append(calls, on(4, "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1),(2)")...)
	for _, mysql := range []bool{false, true} {
		table := tableOf(t, logOf(mysql, calls...), Options{KeepRaw: true})
		c := table.Classes()[0]
		got := fmt.Sprintln(c.Calls, c.Distinct, c.Repeated, c.Users, c.Hosts, c.Tags, c.Raw, c.Worst.Statement, c.Worst.QueryTime, len(c.Seconds), c.Seconds[1795167353].Calls)
		want := "41 20 3 [{a 41}] [{h 41}] [{controller:c0 20} {controller:c1 20}] SELECT  a FROM t WHERE id=3 SELECT  a FROM t WHERE id=3 1s 5 10\n"
		if got != want {
			t.Errorf("mysql %v:\n got %s\nwant %s", mysql, got, want)
		}
		if mysql == !c.FirstLogged.IsZero() && c.First != time.Duration(1795167353)*time.Second {
			t.Errorf("first %v", c.First)
		}
		for _, c := range table.Classes() {
			if c.Verb == "INSERT" && c.SingleRow != 1 {
				t.Errorf("%d of %d insert a single row", c.SingleRow, c.Calls)
			}
		}
	}
	if q := tableOf(t, logOf(false, calls...), Options{}).Queries(); q[0].Raw != "" {
		t.Errorf("raw text %q was not asked for", q[0].Raw)
	}
}

func TestTable_Split(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		table := tableOf(t, logOf(false, on(1, "/* A */ COMMIT", "/* B */ COMMIT", "COMMIT", "SELECT /* A */ 1", "SELECT /* controller:B,traceparent:5 */ 1", "SELECT 1")...), o)
		var got []string
		for _, q := range table.Queries() {
			got = append(got, fmt.Sprintf("%s[%s]%d", q.Verb, q.Tag, q.Calls))
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != want {
			t.Errorf("split %v: got %s, want %s", o.Split, s, want)
		}
	}
	f(Options{}, "COMMIT[A]1 COMMIT[B]1 COMMIT[]1 SELECT[]3")
	f(Options{Split: SplitNone}, "COMMIT[]3 SELECT[]3")
	f(Options{Split: SplitAll}, "COMMIT[A]1 COMMIT[B]1 COMMIT[]1 SELECT[A]1 SELECT[]1 SELECT[controller:B]1")
}

func TestTable_By(t *testing.T) {
	log := logOf(false, on(1, "SELECT 1 FROM a", "SELECT 2 FROM a", "SELECT 2 FROM b, a", "UPDATE a SET x=1")...)
	f := func(o Options, want string) {
		t.Helper()
		var got []string
		for _, c := range tableOf(t, log, o).Classes() {
			got = append(got, fmt.Sprintf("%s:%d", c.Key, c.Calls))
			if c.Fingerprint != c.Key || len(c.ID) != 32 {
				t.Errorf("%+v", c.Query)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%+v: got %s, want %s", o.By, s, want)
		}
	}
	f(Options{By: ByTables}, "a:3 b a:1")
	f(Options{By: ByUser}, "a:4")
	f(Options{By: BySchema}, "s:4")
	f(Options{By: ByHost}, "h:4")
	f(Options{By: ByGroup, Group: func(sql []byte) string { return string(sql[:3]) }}, "SEL:3 UPD:1")
}

func TestTable_Wanted(t *testing.T) {
	log := logOf(false, on(1, "SELECT 0", "SELECT 1", "SELECT 2", "SELECT 3")...)
	start := time.Unix(1795167353, 0)
	n := 0
	table := tableOf(t, log, Options{Since: start.Add(time.Second), Until: start.Add(3 * time.Second), Where: func(e *Event) bool {
		n++
		return string(e.Statement) == "SELECT 2"
	}})
	if table.Statements() != 1 || table.counts.unwanted != 3 || n != 2 {
		t.Errorf("%d statements, %d unwanted, asked %d times", table.Statements(), table.counts.unwanted, n)
	}
}

func TestTable_Attributes(t *testing.T) {
	table := tableOf(t, string(fixture(t, "mariadb-10.11-verbose.log")), Options{Attributes: true})
	all := table.Overall()
	if all.Calls != 34 {
		t.Errorf("%d calls", all.Calls)
	}
	got := map[string]string{}
	for _, a := range all.Attributes {
		got[a.Name] = fmt.Sprint(a.Yes, a.No, a.Values)
		if a.Stats != nil {
			got[a.Name] = fmt.Sprintf("%d %.6f %v", a.Stats.Summary().Count, a.Stats.Summary().Sum, a.Stats.Summary().Max)
		}
	}
	if got["Query_time"] == "" || got["Full_scan"] == "" || got["QC_hit"] != "0 34 []" || got["Pages_accessed"] == "" || got["Thread_id"] != "" {
		t.Errorf("attributes %v", got)
	}
	if want := fmt.Sprintf("34 %.6f %v", all.Total.Seconds(), all.Latency.Max().Seconds()); got["Query_time"] != want {
		t.Errorf("Query_time %s, want %s", got["Query_time"], want)
	}
	var bytes int
	r := NewReader(windowOf(string(fixture(t, "mariadb-10.11-verbose.log"))))
	for r.Scan() {
		bytes += len(r.Event().Statement)
	}
	if !strings.HasPrefix(got[QuerySize], fmt.Sprintf("34 %d.", bytes)) {
		t.Errorf("%s %s, want a sum of %d", QuerySize, got[QuerySize], bytes)
	}
}

func TestClass_Explain(t *testing.T) {
	table := tableOf(t, string(fixture(t, "mariadb-10.11.log")), Options{})
	n := 0
	for _, c := range table.Classes() {
		if len(c.Explain) == 0 {
			continue
		}
		n++
		if len(c.Explain) < 2 || !strings.HasPrefix(c.Explain[0], "id\tselect_type\ttable\t") || len(strings.Split(c.Explain[1], "\t")) < 9 {
			t.Errorf("explain %q", c.Explain)
		}
	}
	if n == 0 {
		t.Error("no class has EXPLAIN rows")
	}
}

func TestVariety(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.IntRange(1, 3000).Draw(rt, "values")
		often := rapid.IntRange(0, 4000).Draw(rt, "often")
		var v, first, second variety
		add := func(x uint64, half *variety) {
			v.add(x)
			half.add(x)
		}
		for i := range values {
			add(hashOfInt(i), &first)
		}
		for range often {
			add(hashOfInt(7), &second)
		}
		first.merge(&second)
		distinct, most := values, 1+often
		if values <= 7 && often > 0 {
			distinct, most = values+1, often
		}
		for name, x := range map[string]*variety{"whole": &v, "merged": &first} {
			if d := int(x.distinct()); x.regs == nil && d != distinct || abs(d-distinct) > distinct/8+1 {
				rt.Fatalf("%s: %d distinct, want %d", name, d, distinct)
			}
			if m := int(x.most()); m > most || m < most-values/counters-1 {
				rt.Fatalf("%s: most %d, want %d", name, m, most)
			}
		}
	})
}

// hashOfInt is SplitMix64 (Steele and others, 2014).
func hashOfInt(i int) uint64 {
	x := uint64(i+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func abs(n int) int { return max(n, -n) }

func TestConns_Forget(t *testing.T) {
	cs := newConns()
	for i := range uint64(4 * maxConns) {
		cs.get(i).run = i
		if c := cs.get(1); i > 0 && c.run != 1 { // one that is used stays
			t.Fatalf("connection 1 was forgotten after %d", i)
		}
	}
	if n := len(cs.new) + len(cs.old); n > 2*maxConns {
		t.Errorf("%d connections are remembered", n)
	}
	cs.remove(1)
	if cs.get(1).run != 0 {
		t.Error("connection 1 is still there")
	}
}
