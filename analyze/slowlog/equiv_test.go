package slowlog

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/lines"
)

// show tells all of an event that the slow reader knows.
func show(e *Event) string {
	schema := e.Schema
	if !e.hasSchema {
		schema = nil
	}
	start := e.Start
	if !e.hasTime || !e.started.IsZero() || e.timestamp == 0 && e.logged.IsZero() {
		start = time.Time{}
	}
	return fmt.Sprintf("%d@%d %v %v #%d %q@%q %q %v %v %d %d %d %v %d %v %v %q %q", e.Line, e.Offset, start, e.Resolution, e.ThreadID,
		e.User, e.Host, schema, e.QueryTime, e.LockTime, e.RowsSent, e.RowsExamined, e.RowsAffected, e.HasAffected, e.BytesSent,
		e.Admin, e.Truncated, e.Statement, numbered(e.head))
}

// numbered returns the lines of a head that start with a number sign.
func numbered(head []byte) []byte {
	var out []byte
	for line := range bytes.Lines(head) {
		if line[0] == '#' {
			out = append(out, line...)
		}
	}
	return bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n"))
}

func showSlow(e *slowEvent, started bool) string {
	start := e.Start
	if started || e.timestamp == 0 && e.logged.IsZero() {
		start = time.Time{}
	}
	return fmt.Sprintf("%d@%d %v %v #%d %q@%q %q %v %v %d %d %d %v %d %v %v %q %q", e.Line, e.Offset, start, e.Resolution, e.ThreadID,
		e.User, e.Host, e.Schema, e.QueryTime, e.LockTime, e.RowsSent, e.RowsExamined, e.RowsAffected, e.HasAffected, e.BytesSent,
		e.Admin, e.Truncated, e.Statement, e.head)
}

// A failer is a test of either kind.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// checkReaders compares the reader with the slow one.
func checkReaders(t failer, log []byte, ahead int) {
	t.Helper()
	fast := newReaderOf(lines.NewReader(bytes.NewReader(log), 0), Options{Kind: Slow}, nil)
	fast.ahead = ahead
	slow := newSlowReader(lines.NewReader(bytes.NewReader(log), 0))
	for n := 0; ; n++ {
		a, b := fast.Scan(), slow.Scan()
		if a != b {
			t.Fatalf("entry %d: fast %v, slow %v of %.2000q", n, a, b, log)
		}
		if !a {
			break
		}
		e := fast.Event()
		got, want := show(e), showSlow(slow.Event(), !e.started.IsZero())
		if e.Resolution != slow.Event().Resolution { // of Start
			want = strings.Replace(want, slow.Event().Resolution.String(), e.Resolution.String(), 1)
		}
		if got != want {
			t.Fatalf("entry %d of %.2000q:\n got %s\nwant %s", n, log, got, want)
		}
	}
	if a, b := *fast.Account(), *slow.Account(); !reflect.DeepEqual(a, b) {
		t.Fatalf("%.2000q:\n got %+v\nwant %+v", log, a, b)
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

var slowFixtures = []string{"mariadb-10.11.log", "mysql-9.7.log", "mariadb-10.11-verbose.log"}

func TestReader_EqualToSlow(t *testing.T) {
	for _, name := range slowFixtures {
		log := fixture(t, name)
		for _, ahead := range []int{1, 1000, readAhead} {
			checkReaders(t, log, ahead)
			checkReaders(t, bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n")), ahead)
		}
	}
}

// pieces are what logs are made of, and what tries to look like it.
var pieces = []string{
	head, "# Time: 261120  9:35:53\n", "# Time: 2026-11-20T11:13:58.513052Z\n", "# User@Host: root[root] @ localhost [127.0.0.1]\n",
	"# User@Host: a[b] @  [10.0.0.7]  Id:    12\n", "# Query_time: 0.000077  Lock_time: 0.000031  Rows_sent: 2  Rows_examined: 3\n",
	"# Query_time: 1  Lock_time: 0 Rows_sent: 0  Rows_examined: 7 Thread_id: 12 Errno: 0 Start: 2026-11-20T11:13:57.012345Z\n",
	"# Thread_id: 4  Schema:   QC_hit: No\n", "# Schema: a  Last_errno: 0  Killed: 0\n", "# explain: id\ttype\n", "#\n",
	"SET timestamp=1795167353;\n", "SET timestamp=1;\n", "SET insert_id=5;\n", "use `shop`;\n", "use a;\n", "use a\n",
	"SELECT 1;\n", "SELECT 'a\n", "b';\n", "SELECT \"x;\n", ";\n", "\n", "  \n", "/* a;\n", "*/ 1;\n", "-- it's\n", "SELECT 1\n",
	"# administrator command: Quit;\n", "# comment ' with a quote\n", "x;", "'", "\\", "Tcp port: 3306  Unix socket: x\n",
	"/usr/sbin/mariadbd, Version: 10.11.19-MariaDB. started with:\n", "Time\t\t    Id Command\tArgument\n", "\x00\n", "SELECT `a';\n",
}

func draw(rt *rapid.T) []byte {
	var log []byte
	for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(rt, "log") {
		log = append(log, p...)
	}
	if rapid.IntRange(0, 3).Draw(rt, "crlf") == 0 {
		log = bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n"))
	}
	return log
}

func TestReader_EqualToSlow_Anything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkReaders(rt, draw(rt), rapid.SampledFrom([]int{1, 50, 300, readAhead}).Draw(rt, "ahead"))
	})
}

func FuzzReader_EqualToSlow(f *testing.F) {
	for _, name := range slowFixtures {
		b := fixture(f, name)
		f.Add(b[:min(len(b), 3000)], 100)
	}
	for _, p := range pieces {
		f.Add([]byte(head+"SELECT 'a;\n"+p+head+p), 1)
	}
	f.Fuzz(func(t *testing.T, log []byte, ahead int) {
		if bytes.Contains(log, []byte("\r\r")) {
			return // one more of them counts as the line's end
		}
		checkReaders(t, log, max(ahead, 1))
	})
}

// outcome is all that a table and its windows tell.
func outcome(t failer, in []lines.Input, o Options, split lines.SplitOptions) string {
	t.Helper()
	table, windows, err := collectAll(context.Background(), in, NewTable(o), split)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range append(table.Classes(), table.Overall()) {
		lat, attrs := c.Latency, c.Attributes
		c.Latency, c.Attributes = nil, nil
		fmt.Fprintf(&b, "%+v %d %v\n", c, lat.Count(), lat.Quantile(0.9))
		for _, a := range attrs {
			fmt.Fprintf(&b, "  %s %d %d %v", a.Name, a.Yes, a.No, a.Values)
			if a.Stats != nil {
				fmt.Fprintf(&b, " %+v", a.Stats.Summary())
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "%+v\n%+v\n%+v\n%v %d %d %d\n", table.Transactions(), table.Saves(), windows, table.Seconds(), table.Statements(), table.Admin(), table.Connections())
	return b.String()
}

func TestCollectAll_SameForAnyWorkersAndBlocks(t *testing.T) {
	for _, name := range slowFixtures {
		in := []lines.Input{{Path: "testdata/" + name}, {Path: "testdata/" + slowFixtures[0]}}
		o := Options{Attributes: true, Workers: 1}
		want := outcome(t, in, o, lines.SplitOptions{})
		for _, workers := range []int{1, 2, 5} {
			for _, block := range []int{100, 5000, 0} {
				o.Workers = workers
				if got := outcome(t, in, o, lines.SplitOptions{BlockSize: block}); got != want {
					t.Fatalf("%s, %d workers, blocks of %d:\n%s", name, workers, block, firstDifference(got, want))
				}
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "got  " + x[i] + "\nwant " + y[i]
		}
	}
	return "one is longer"
}

func TestCollectAll_SameForAnyWorkersAndBlocks_Anything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := draw(rt)
		in := func() []lines.Input { return []lines.Input{{Path: "x", R: bytes.NewReader(log)}} }
		o := Options{Attributes: true, Workers: 1, MaxQueries: rapid.IntRange(1, 5).Draw(rt, "queries"), Kind: Slow}
		want := outcome(t, in(), o, lines.SplitOptions{})
		o.Workers = rapid.IntRange(1, 4).Draw(rt, "workers")
		if got := outcome(t, in(), o, lines.SplitOptions{BlockSize: rapid.IntRange(1, 500).Draw(rt, "block")}); got != want {
			rt.Fatalf("%q, %d workers:\n%s", log, o.Workers, firstDifference(got, want))
		}
	})
}
