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

	"github.com/kasoku/kasoku/logs/lines"
)

// show prints all of an event that the slow reader knows.
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
	f.Add([]byte("#Query_time: 0\n#0%$29_time: 1"), 134)
	f.Fuzz(func(t *testing.T, log []byte, ahead int) {
		if bytes.Contains(log, []byte("\r\r")) {
			return // one more of them counts as the line's end
		}
		checkReaders(t, log, max(ahead, 1))
	})
}

// outcome is all that a table and its windows hold.
func outcome(t failer, in []lines.Input, o Options, split lines.SplitOptions) string {
	t.Helper()
	p := newPipeline(in, NewTable(o))
	if err := p.run(context.Background(), split); err != nil {
		t.Fatal(err)
	}
	table, windows := p.table, p.windows()
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
	fmt.Fprintf(&b, "%+v\n%+v\n%+v\n%v %d %d %d\n", table.Transactions(), table.Saves(), windows, table.series.seconds(), table.Statements(), table.Admin(), table.Connections())
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

func TestCollect_Chain(t *testing.T) {
	log := fixture(t, "mariadb-10.11.log")
	dir := t.TempDir()
	for _, at := range []int{0, 100, 5000, len(log)} {
		at += bytes.IndexByte(append(log[at:len(log):len(log)], '\n'), '\n')
		var in []lines.Input
		for i, part := range [][]byte{log[:at], log[min(at+1, len(log)):]} { // the first part ends without a newline
			in = append(in, lines.Input{Path: fmt.Sprintf("%s/%d-%d", dir, at, i)})
			if err := os.WriteFile(in[i].Path, part, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		src, err := lines.Open(in, 0)
		if err != nil {
			t.Fatal(err)
		}
		table, window, err := Collect(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole := tableOf(t, string(log), Options{})
		if window.Records != 122 || fmt.Sprint(byID(table)) != fmt.Sprint(byID(whole)) || len(table.Saves()) != 1 {
			t.Errorf("cut at %d: %d records, %v", at, window.Records, byID(table))
		}
		src.Close()
	}
}

func TestCollectAll_Inputs(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) lines.Input {
		if err := os.WriteFile(dir+"/"+name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return lines.Input{Path: dir + "/" + name}
	}
	var z bytes.Buffer
	zw := gzip.NewWriter(&z)
	zw.Write(fixture(t, "mysql-9.7.log"))
	zw.Close()
	in := []lines.Input{write("a", fixture(t, "mariadb-10.11.log")), write("empty", nil), write("z.gz", z.Bytes()), write("last", nil)}
	table, windows, err := CollectAll(t.Context(), in, Options{}, nil)
	if err != nil || len(windows) != 4 || windows[0].Records != 122 || windows[1].Lines != 0 || windows[2].Records != 172 || windows[2].Format != "mysql" {
		t.Fatalf("%v, windows %+v", err, windows)
	}
	if table.Statements() != 122+120 {
		t.Errorf("%d statements", table.Statements())
	}
	for _, c := range table.Classes() {
		log := fixture(t, map[int]string{0: "mariadb-10.11.log", 2: "mysql-9.7.log"}[c.Worst.Input])
		at := log[c.Worst.Offset:]
		if line := 1 + bytes.Count(log[:c.Worst.Offset], []byte("\n")); line != int(c.Worst.Line) || at[0] != '#' || !bytes.Contains(at[:min(len(at), 3000)], []byte(strings.TrimPrefix(c.Worst.Statement, "use "))) {
			t.Errorf("worst entry %+v is not at its place: %.200q", c.Worst, at)
		}
	}
	if _, windows, err = CollectAll(t.Context(), append(in[:1:1], lines.Input{Path: dir + "/gone"}, in[2]), Options{}, nil); err == nil || len(windows) != 1 || windows[0].Records != 122 {
		t.Errorf("%v, windows %+v", err, windows)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err = CollectAll(ctx, in, Options{}, nil); err == nil {
		t.Error("no error of a context that has ended")
	}
}
