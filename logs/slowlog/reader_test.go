package slowlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

func newReader(log string) *Reader { return NewReader(lines.NewReader(strings.NewReader(log), 0)) }

// statements returns the statements of a log, and fails the test when the
// account does not add up.
func statements(t testing.TB, r *Reader) []string {
	t.Helper()
	var out []string
	for r.Scan() {
		out = append(out, string(r.Event().Statement))
	}
	if err := r.Err(); err != nil {
		t.Errorf("Err: %v", err)
	}
	checkAccount(t, r)
	return out
}

func checkAccount(t testing.TB, r *Reader) {
	t.Helper()
	if a := r.Account(); a.Lines != a.Records+a.Continued+a.Blank+a.Dropped {
		t.Errorf("%d lines, but %d records, %d continued, %d blank, %d dropped", a.Lines, a.Records, a.Continued, a.Blank, a.Dropped)
	}
}

const head = "# User@Host: root[root] @ localhost [127.0.0.1]\n" +
	"# Thread_id: 4  Schema: shop  QC_hit: No\n" +
	"# Query_time: 0.000077  Lock_time: 0.000031  Rows_sent: 2  Rows_examined: 3\n" +
	"# Rows_affected: 1  Bytes_sent: 52\n"

func TestReader_Event(t *testing.T) {
	r := newReader("\n# Time: 261120  9:35:53\n" + head +
		"# Full_scan: Yes  Full_join: No\n#\n# explain: id\ttype: x\n#\nuse `tiny`;\nSET last_insert_id=3,insert_id=4,timestamp=1795167353;\nSELECT 1;\n")
	if !r.Scan() {
		t.Fatal("no entry")
	}
	e := r.Event()
	got := fmt.Sprintf("%d %d %s %s@%s %d %s %v %v %d %d %d %d %v %q", e.Line, e.Offset, e.Start.UTC().Format(time.RFC3339), e.User, e.Host,
		e.ThreadID, e.Schema, e.QueryTime, e.LockTime, e.RowsSent, e.RowsExamined, e.RowsAffected, e.BytesSent, e.HasAffected, e.Statement)
	want := `2 1 2026-11-20T09:35:53Z root@localhost 4 shop 77µs 31µs 2 3 1 52 true "SELECT 1"`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	var attrs []string
	e.Attributes(func(name, value []byte) bool {
		attrs = append(attrs, fmt.Sprintf("%s=%s", name, value))
		return true
	})
	if got, want := strings.Join(attrs, " "), "Thread_id=4 Schema=shop QC_hit=No Query_time=0.000077 Lock_time=0.000031 "+
		"Rows_sent=2 Rows_examined=3 Rows_affected=1 Bytes_sent=52 Full_scan=Yes Full_join=No"; got != want {
		t.Errorf("attributes\n got %s\nwant %s", got, want)
	}
	if r.Format() != "mariadb" || r.Scan() {
		t.Errorf("format %q, or one entry too many", r.Format())
	}
	checkAccount(t, r)
}

func TestReader_EventMySQL(t *testing.T) {
	r := newReader("# Time: 2026-11-20T11:13:58.513052Z\n# User@Host: app[app] @  [10.0.0.7]  Id:    12\n" +
		"# Query_time: 1.500000  Lock_time: 0.000005 Rows_sent: 0  Rows_examined: 7 Thread_id: 12 Errno: 0 Start: 2026-11-20T11:13:57Z\n" +
		"use shop;\nSET timestamp=1795173238;\n# administrator command: Prepare;\n")
	if !r.Scan() {
		t.Fatal("no entry")
	}
	e := r.Event()
	got := fmt.Sprintf("%s %v %s@%s %d %s %v %d %v %v %q", e.Start.Format(time.RFC3339Nano), e.Resolution, e.User, e.Host,
		e.ThreadID, e.Schema, e.QueryTime, e.RowsExamined, e.HasAffected, e.Admin, e.Statement)
	want := `2026-11-20T11:13:57.013052Z 1µs app@10.0.0.7 12 shop 1.5s 7 false true "administrator command: Prepare"`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if r.Format() != "mysql" {
		t.Errorf("format %q", r.Format())
	}
}

func TestReader_Statements(t *testing.T) {
	f := func(log string, want ...string) {
		t.Helper()
		for _, crlf := range []bool{false, true} {
			in := log
			if crlf {
				in = strings.ReplaceAll(log, "\n", "\r\n")
			}
			got := statements(t, newReader(in))
			if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
				t.Errorf("crlf %v:\n got %q\nwant %q", crlf, got, want)
			}
		}
	}
	set := head + "SET timestamp=1795167353;\n"
	f("")
	f(set+"SELECT 1;\n", "SELECT 1")
	f(set+"SELECT 1;", "SELECT 1")
	f(set+"SELECT 1", "SELECT 1")
	f(set+"SELECT 1;\n"+set+"SELECT 2;\n", "SELECT 1", "SELECT 2")
	f(set+"SELECT\n  1\n\n;\n", "SELECT\n  1\n\n")
	f(set+"SELECT 1;\n\n\n"+set+"SELECT 2;\n", "SELECT 1", "SELECT 2")
	f(set+"# User comment\nSELECT 1;\n", "# User comment\nSELECT 1")
	f(set+";\n"+set+"SELECT 2;\n", "", "SELECT 2")
	f(set+set+"SELECT 2;\n", "", "SELECT 2")
	f(set+"SET timestamp=5;\n"+set+"USE x;\n", "SET timestamp=5", "USE x")
	f(head+"SELECT 1;\n", "SELECT 1")
	f(head+"use `x y`;\n", "use x y")
	f(head+"# administrator command: Quit;\n"+set+"SELECT 2;\n", "administrator command: Quit", "SELECT 2")
	f(set+"# administrator command: Quit;\n# Time: 261120  9:35:53\n"+set+"SELECT 2;\n", "administrator command: Quit", "SELECT 2")
	// Lines of the server itself, also after an entry that was cut by a crash.
	banner := "/usr/sbin/mariadbd, Version: 10.11.19-MariaDB. started with:\nTcp port: 3306  Unix socket: x\nTime\t\t    Id Command\tArgument\n"
	f(banner+set+"SELECT 1;\n"+banner+set+"SELECT 2;\n", "SELECT 1", "SELECT 2")
	f(set+"SELECT 1\n"+banner+set+"SELECT 2;\n", "SELECT 1", "SELECT 2")
	f(head+banner+set+"SELECT 2;\n", "", "SELECT 2")
	// What looks like an entry inside of a literal.
	f(set+"SELECT 'a\n# Time: 261120  9:35:53\nb';\n", "SELECT 'a\n# Time: 261120  9:35:53\nb'")
	f(set+"SELECT 'a;\n# Time: 261120  9:35:53\nb';\n", "SELECT 'a;\n# Time: 261120  9:35:53\nb'")
	f(set+"SELECT 'a;\n"+head+"SELECT 2;\nb';\n", "SELECT 'a;\n"+head+"SELECT 2;\nb'")
	f(set+"SELECT /* a;\n# Time: 261120  9:35:53\n*/ 1;\n", "SELECT /* a;\n# Time: 261120  9:35:53\n*/ 1")
	old := head + "SET timestamp=1;\n"
	f(set+"SELECT 'a;\n"+old+"SELECT 2;\nb';\n", "SELECT 'a;\n"+old+"SELECT 2;\nb'")
	// A quote that is never closed must not swallow the log.
	f(set+"SELECT 'a;\n"+set+"SELECT 2;\n", "SELECT 'a", "SELECT 2")
	f(set+"SELECT 'a;\n# Time: 261120  9:35:54\n"+head+"use `b`;\nSET timestamp=1795167354;\nSELECT 2;\n", "SELECT 'a", "SELECT 2")
	// Semicolons and heads that are none.
	f(set+"SELECT 1;\n# Timed: x\n# User@Host: y\n;\n", "SELECT 1;\n# Timed: x\n# User@Host: y\n")
	f(set+"a\x00b;\n", "a\x00b")
}

func TestReader_Dropped(t *testing.T) {
	r := newReader("SELECT the end of an entry;\n\n# Time: 261120  9:35:53\n" +
		strings.Replace(head, "0.000077", "0.0x", 1) + "SELECT 1;\n" +
		"# User@Host: a[a] @ b []\nSELECT 2;\n" + head + "SELECT 3;\n")
	if got := statements(t, r); len(got) != 1 || got[0] != "SELECT 3" {
		t.Errorf("statements %q", got)
	}
	a := r.Account()
	if a.Dropped != 9 || a.Blank != 1 || len(a.Bad) != 3 {
		t.Fatalf("account %+v", a)
	}
	want := []string{
		`1 outside of an entry, a head such as "# User@Host: …" was expected`, `3 bad Query_time "0.0x"`, `9 no Query_time`,
	}
	for i, b := range a.Bad {
		if got := fmt.Sprintf("%d %s", b.Line, b.Why); got != want[i] {
			t.Errorf("bad line %q, want %q", got, want[i])
		}
	}
}

func TestReader_LongStatement(t *testing.T) {
	long := "INSERT INTO t VALUES ('" + strings.Repeat("x", 3<<20)
	for name, sql := range map[string]string{"one line": long + "');\n", "many lines": strings.ReplaceAll(long, "xxxxxxx", "xxxxxx\n") + "');\n"} {
		r := newReader(head + sql + head + "SELECT 2;\n")
		if !r.Scan() {
			t.Fatalf("%s: no entry", name)
		}
		e := r.Event()
		if !e.Truncated || len(e.Statement) > maxStatement+1 || e.Statement[len(e.Statement)-1] != '\'' {
			t.Errorf("%s: truncated %v, %d bytes", name, e.Truncated, len(e.Statement))
		}
		if got := statements(t, r); len(got) != 1 || got[0] != "SELECT 2" {
			t.Errorf("%s: then %.40q", name, got)
		}
	}
}

func TestReader_HostileHeads(t *testing.T) {
	// Every line may be a head inside of a literal: reading ahead must stay bounded.
	r := newReader(head + "SELECT 'a;\n" + strings.Repeat("# User@Host: a[a] @ b [];\n", 10_000))
	if got := statements(t, r); len(got) != 1 || r.Account().Records != 1 {
		t.Errorf("%d entries", len(got))
	}
	r = newReader(head + "SELECT 'a;\n# Time: 261120  9:35:53\n#" + strings.Repeat("x", 1<<20) + "\n" + head + "SELECT 1;\n")
	statements(t, r)
}

func TestReader_Allocation(t *testing.T) {
	r := newReader(strings.Repeat(head+"SET timestamp=1795167353;\nSELECT 'x' FROM t WHERE a = 'b';\n", 1100))
	r.Scan()
	if n := testing.AllocsPerRun(1000, func() { r.Scan() }); n > 0.1 {
		t.Errorf("Scan allocates %v times", n)
	}
}

func FuzzReader(f *testing.F) {
	for _, name := range slowFixtures {
		b := fixture(f, name)
		f.Add(b[:min(len(b), 3000)], uint8(Auto))
	}
	f.Add([]byte(head+"SELECT 'a;\n"+head+"SET timestamp=1;\nSELECT 1;\n"), uint8(Slow))
	f.Add([]byte("# Time: 2026-11-20T11:13:58.513052Z\n# User@Host: a[a] @ [\n# Schema:  Query_time: 1\n\n;\n"), uint8(Slow))
	f.Add([]byte("2026-05-14T05:28:50.000100Z\t    8 Connect\troot@localhost on shop\n\t\t    8 Query\tSELECT 'a\n261120  9:35:53\t    9 Query\tb'\n"), uint8(General))
	f.Add([]byte("SELECT 1;\nUPDATE t\n SET a='\n;\n';\nBEGIN\n"), uint8(Raw))
	f.Fuzz(func(t *testing.T, log []byte, kind uint8) {
		o := Options{MaxQueries: 3, MaxPending: 3, Kind: Kind(kind % 4), Attributes: true}
		table := NewTable(o)
		r := newReaderOf(windowOf(string(log)), o, table.names)
		for r.Scan() {
			e := r.Event()
			e.Attributes(func(_, _ []byte) bool { return true })
			table.Add(e)
		}
		checkAccount(t, r)
		a := r.Account()
		if want := uint64(len(strings.SplitAfter(string(log), "\n"))); a.Lines != want && a.Lines != want-1 {
			t.Errorf("%d lines of %d", a.Lines, want)
		}
		var calls uint64
		for _, q := range table.Queries() {
			calls += q.Calls
		}
		if got := table.Statements() + table.Admin(); got != calls || got+table.counts.own != a.Records || table.Overall().Calls != calls {
			t.Errorf("%d records, %d statements, %d calls", a.Records, got, calls)
		}
		if len(table.classes) > 4 {
			t.Errorf("%d classes", len(table.classes))
		}
		table.Transactions()
	})
}

func windowOf(log string) *lines.Window { return lines.NewReader(strings.NewReader(log), 0) }
