package slowlog

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
)

func collect(t testing.TB, name string, o Options) (*Table, kasoku.LogWindow) {
	t.Helper()
	w, err := lines.Since(lines.Mark{Path: "testdata/" + name, Missing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	table, window, err := Collect(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return table, window
}

// byID returns how often each class was called.
func byID(t *Table) map[string]uint64 {
	out := map[string]uint64{}
	for _, q := range t.Queries() {
		out[q.ID+" "+q.Tag] += q.Calls
	}
	return out
}

func TestCollect_SameIDsAsPtQueryDigest(t *testing.T) {
	table, window := collect(t, "mariadb-10.11-verbose.log", Options{})
	f, err := os.Open("testdata/mariadb-10.11-verbose.ptqd.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		id, rest, _ := strings.Cut(s.Text(), "\t")
		want[id] = rest
	}
	for _, q := range table.Queries() {
		if got := fmt.Sprintf("%d\t%.6f", q.Calls, q.Total.Seconds()); got != want[q.ID] {
			t.Errorf("%s %s: %q, want %q", q.ID, q.Sample, got, want[q.ID])
		}
		delete(want, q.ID)
		if q.Latency.Count() != q.Calls || q.Latency.Sum() != q.Total {
			t.Errorf("%s: histogram of %d, %v", q.ID, q.Latency.Count(), q.Latency.Sum())
		}
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
	if window.Records != 34 || window.Format != "mariadb" || window.Kind != "slowlog" || window.Dropped != 0 {
		t.Errorf("window %+v", window)
	}
}

func TestCollect_MariaDB(t *testing.T) {
	table, window := collect(t, "mariadb-10.11.log", Options{})
	// 124 heads, of which 2 lie in a literal.
	if window.Records != 122 || window.Dropped != 0 || table.Statements() != 122 || table.Admin() != 0 || window.Format != "mariadb" {
		t.Errorf("window %+v", window)
	}
	ids := byID(table)
	for id, want := range map[string]uint64{
		"BA7E77F4CCD756FC9617DE062D3FFA8D RegisterScores":  2,
		"BA7E77F4CCD756FC9617DE062D3FFA8D RegisterCourses": 2,
		"FFFCA4D67EA0A788813031B8BBC3B329 ":                20, // COMMIT without a tag
	} {
		if ids[id] != want {
			t.Errorf("%s: %d calls, want %d", id, ids[id], want)
		}
	}
	wantSaves(t, table.Saves())
	for _, q := range table.Queries() {
		if q.Verb == "UPDATE" && q.Tables[0] == "users" && strings.Contains(q.Sample, "`id`") && (q.Calls != 10 || !q.HasAffected || q.NoneAffected != 10) {
			t.Errorf("update %+v", q)
		}
	}
}

func TestCollect_MySQL(t *testing.T) {
	table, window := collect(t, "mysql-9.7.log", Options{})
	if window.Records != 172 || window.Dropped != 0 || table.Statements() != 120 || table.Admin() != 52 || window.Format != "mysql" {
		t.Errorf("window %+v, %d statements, %d admin", window, table.Statements(), table.Admin())
	}
	wantSaves(t, table.Saves())
	if got := byID(table)["DA556F9115773A1A99AA0165670CE848 "]; got != 15 {
		t.Errorf("%d times administrator command: Prepare", got)
	}
	for _, q := range table.Queries() {
		if q.HasAffected || q.NoneAffected > 0 {
			t.Errorf("MySQL reports no rows affected: %+v", q)
		}
	}
	if n := table.Connections(); n != 20 {
		t.Errorf("%d connections", n)
	}
}

func wantSaves(t *testing.T, saves []kasoku.SaveShape) {
	t.Helper()
	if len(saves) != 1 || saves[0].Table != "users" || saves[0].Count != 10 || saves[0].Inserts != 10 {
		t.Fatalf("saves %+v", saves)
	}
	want := []string{
		"UPDATE `users` SET `name` = ?, `mail` = ? WHERE `users`.`id` = ?",
		"SELECT * FROM `users` WHERE `users`.`id` = ? ORDER BY `users`.`id` ASC LIMIT ?",
		"INSERT INTO `users` (`id`,`name`,`mail`) VALUES (?,?,?)",
	}
	if !slices.Equal(saves[0].Sample, want) {
		t.Errorf("sample %q, want %q", saves[0].Sample, want)
	}
}

// entries makes a log of statements, each over a connection of its own.
func entries(affected int, statements ...string) string {
	var b strings.Builder
	for i, s := range statements {
		fmt.Fprintf(&b, "# User@Host: a[a] @ b []\n# Thread_id: %d  Schema: s  QC_hit: No\n# Query_time: 0.001  Lock_time: 0\n", i+1)
		if affected >= 0 {
			fmt.Fprintf(&b, "# Rows_affected: %d\n", affected)
		}
		fmt.Fprintf(&b, "SET timestamp=%d;\n%s;\n", 1795167353+i, s)
	}
	return b.String()
}

func tableOf(t testing.TB, log string, o Options) *Table {
	t.Helper()
	table, _, err := Collect(lines.NewReader(strings.NewReader(log), 0), o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestSaves(t *testing.T) {
	f := func(affected int, want string, statements ...string) {
		t.Helper()
		var got []string
		for _, s := range tableOf(t, entries(affected, statements...), Options{}).Saves() {
			got = append(got, fmt.Sprintf("%s %d/%d", s.Table, s.Count, s.Inserts))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", statements, got, want)
		}
	}
	update, choose, insert := "UPDATE u SET a=1 WHERE id='k'", "SELECT * FROM u WHERE id='k'", "INSERT INTO u (id,a) VALUES ('k',1)"
	f(0, "u 1/1", update, choose, insert)
	f(-1, "u 1/1", update, choose, insert) // rows affected are unknown
	f(1, "", update, choose, insert)       // the UPDATE did change a row
	f(0, "u 1/1", "BEGIN", update, "COMMIT", choose, "BEGIN", insert, "COMMIT")
	f(0, "u 1/1", update, choose, "INSERT INTO u VALUES ('k',1)")
	f(0, "u 1/1", "UPDATE `u` SET a=1 WHERE `u`.`ID` = 'k' AND a IS NULL", "SELECT x.a FROM s.u AS x WHERE x.id='k' LIMIT 1", insert)
	f(0, "u 1/1", "UPDATE u SET a=1 WHERE gone=0 AND id='k'", "SELECT * FROM u WHERE gone=0 AND id='k'", insert)
	f(0, "u 2/3", update, choose, insert, insert, strings.ReplaceAll(update, "k", "l"),
		strings.ReplaceAll(choose, "k", "l"), strings.ReplaceAll(insert, "k", "l"))
	f(0, "", update, insert)                                                         // no SELECT
	f(0, "", choose, update, insert)                                                 // wrong order
	f(0, "", update, choose, strings.ReplaceAll(insert, "'k'", "'other'"))           // another key
	f(0, "", update, strings.ReplaceAll(choose, "'k'", "'other'"), insert)           // another key
	f(0, "", update, choose, strings.ReplaceAll(insert, "u", "v"))                   // another table
	f(0, "", update, choose, "INSERT INTO u (id,a) VALUES (9,'k')")                  // another column
	f(0, "", "UPDATE u SET a=1", "SELECT * FROM u", "INSERT INTO u (id) VALUES (1)") // no key
	f(0, "", "UPDATE u SET a=1 WHERE gone=0 AND id='k'", "SELECT * FROM u WHERE gone=0", "INSERT INTO u (id,gone) VALUES ('x',0)")
}

func TestSaves_Bounded(t *testing.T) {
	var s []string
	for i := range 100 {
		s = append(s, fmt.Sprintf("UPDATE u SET a=1 WHERE id='k%d'", i))
	}
	for i := range 100 {
		s = append(s, fmt.Sprintf("SELECT * FROM u WHERE id='k%d'", i), fmt.Sprintf("INSERT INTO u (id) VALUES ('k%d')", i))
	}
	table := tableOf(t, entries(0, s...), Options{MaxPending: 10})
	if saves := table.Saves(); len(saves) != 1 || saves[0].Count != 10 {
		t.Errorf("saves %+v, want the 10 that were not forgotten", saves)
	}
	if n := len(table.saves.updated.trails); n > 11 {
		t.Errorf("%d trails in memory", n)
	}
}

func TestTable_Clock(t *testing.T) {
	log := entries(0, "SELECT 1", "SELECT 1", "SELECT 1", "SELECT /* kasoku */ 1", "SELECT 1", "SELECT 1")
	o := Options{
		// The second in which the run starts lies partly before it.
		Clock:    func(at time.Time) time.Duration { return at.Sub(time.Unix(1795167354, 500_000_000)) },
		Interval: kasoku.Interval{From: 0, To: 2 * time.Second},
	}
	table, window, err := Collect(lines.NewReader(strings.NewReader(log), 0), o)
	if err != nil {
		t.Fatal(err)
	}
	if table.Outside() != 3 || table.Statements() != 2 || table.counts.own != 1 {
		t.Errorf("%d outside, %d statements, %d own", table.Outside(), table.Statements(), table.counts.own)
	}
	if got := fmt.Sprint(table.series.seconds()); got != "map[0:{2 0s 0}]" {
		t.Errorf("seconds %s", got)
	}
	if q := table.Queries(); len(q) != 1 || q[0].First != 0 || q[0].Last != 500*time.Millisecond {
		t.Errorf("queries %+v", q)
	}
	if want := "3 entries outside the run were left out; 1 statements of kasoku itself were left out"; window.Note != want {
		t.Errorf("note %q, want %q", window.Note, want)
	}
}

func TestTable_Bounded(t *testing.T) {
	var s []string
	for i := range 300 {
		s = append(s, "SELECT "+strings.Repeat("a", i+1))
	}
	table := tableOf(t, entries(0, s...), Options{MaxQueries: 10})
	var calls, other uint64
	for _, q := range table.Queries() {
		calls += q.Calls
		if q.Fingerprint == Other {
			other = q.Calls
		}
	}
	if calls != 300 || other != 290 || len(table.classes) != 11 {
		t.Errorf("%d calls, %d of them other, %d classes", calls, other, len(table.classes))
	}
	if n := strings.Join(table.notes(), ""); !strings.Contains(n, "290 calls") {
		t.Errorf("notes %q", n)
	}
}

// TestLRU compares with a slice in order of age.
func TestLRU(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		l, table := newLRU(limit), &saveTable{}
		var model []uint64
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			key := uint64(rapid.IntRange(0, 7).Draw(rt, "key"))
			i := slices.Index(model, key)
			if _, ok := l.get(key); ok != (i >= 0) {
				rt.Fatalf("get(%d) = %v, want %v of %v", key, ok, i >= 0, model)
			}
			if i >= 0 {
				model = slices.Delete(model, i, i+1)
			}
			if rapid.Bool().Draw(rt, "remove") {
				if _, ok := l.remove(key); ok != (i >= 0) {
					rt.Fatalf("remove(%d) = %v", key, ok)
				}
				continue
			}
			l.put(trail{key: key, table: table})
			if model = append(model, key); len(model) > limit {
				model = model[1:]
			}
		}
		if len(l.index) != len(model) || table.pending != len(model) || len(l.trails) > limit+1 {
			rt.Fatalf("%d trails, %d pending, want %v", len(l.index), table.pending, model)
		}
	})
}

func BenchmarkCollect(b *testing.B) {
	log, err := os.ReadFile("testdata/mariadb-10.11-verbose.log")
	if err != nil {
		b.Fatal(err)
	}
	big := strings.Repeat(string(log), 100)
	b.SetBytes(int64(len(big)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Collect(lines.NewReader(strings.NewReader(big), 0), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
