package applog

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
)

func read(t testing.TB, log string, o Options) (*Table, kasoku.LogWindow) {
	t.Helper()
	w := lines.NewReader(strings.NewReader(log), 0)
	table, err := Read(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return table, table.Window(w)
}

// brief returns messages as "count level code sql pattern".
func brief(messages []kasoku.Message) []string {
	var out []string
	for _, m := range messages {
		s := fmt.Sprintf("%d %s", m.Count, m.Level)
		if m.Code != "" {
			s += " " + m.Code
		}
		if m.SQL {
			s += " sql"
		}
		out = append(out, s+" | "+m.Pattern)
	}
	return out
}

func TestRead_Line(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		table, _ := read(t, line+"\n", Options{})
		if got := strings.Join(brief(table.Messages()), "\n"); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	f("2026/11/20 14:02:11 error: add user: Error 1040 (08004): Too many connections", "1 error 1040 | add user: Error ? (?): Too many connections")
	f("Error 1040", "1 error 1040 | Error ?")
	f("ERROR 1040 (HY000): x", "1 error 1040 | ERROR ? (HY?): x")
	f("error 404: not found", "1 error | error ?: not found")
	f("POST /users/12: read tcp 127.0.0.1:50122->127.0.0.1:3306: connection reset by peer", "1  | POST /users/?: read tcp ?->?: connection reset by peer")
	f("dial tcp [::1]:3306: connect: refused", "1  | dial tcp ?: connect: refused")
	f("took 1.234ms, 5µs and 1m2.5s for 3f2a9c1e-1111-4abc-8def-0123456789ab 0xc000123 deadbeef01 -5", "1  | took ?, ? and ? for ? ? ? ?")
	f("can't open 'a b' \"c\\\"d\" user123", "1  | can't open ? ? user?")
	f("2026-11-20T14:02:11.123456Z\tERROR\tmain.go:12\tfailed\t{\"k\": \"v\"}", "1 error | main.go:? failed {?: ?}")
	f("2026-11-20 14:02:11,123 - shop.views - WARNING - slow", "1 warn | shop.views - WARNING - slow")
	f("[2026-11-20 14:02:11.5 +0900] [1234] [INFO] booted", "1 info | booted")
	f("Nov 20 14:02:11 web1 app[12]: started", "1  | web? app[?]: started")
	f("E1120 14:02:11.123456   12345 file.go:12] broke", "1 error | broke")
	f("ERRO[0012] broke", "1 error | broke")
	f("2:02PM WRN slow id=5", "1 warn | slow id=?")
	f("\x1b[31m2026/11/20 14:02:11\x1b[0m \x1b[33mWARN\x1b[0m low", "1 warn | low")
	f("1795163915.25 INFO up", "1 info | up")
	f("panic: runtime error: index out of range [5] with length 3", "1 error | panic: runtime error: index out of range [?] with length ?")
	f("http: panic serving 127.0.0.1:1: x", "1 error | http: panic serving ?: x")
	f(`pymysql.err.OperationalError: (1040, 'Too many connections')`, "1 error 1040 | pymysql.err.OperationalError: (?, ?)")
	f(`SQLSTATE[08004] [1040] Too many connections`, "1 error 1040 | SQLSTATE[?] [?] Too many connections")
	f(`error 1500 ms late`, "1 error | error ? ms late")
	// JSON and logfmt.
	f(`{"time":"2026-11-20T14:02:11Z","level":"ERROR","msg":"add user","err":"Error 1040: Too many connections"}`, "1 error 1040 | add user: Error ?: Too many connections")
	f(`{"level":50,"err":{"type":"E","message":"x \"y\"","stack":"z"},"msg":"failed\n"}`, "1 error | failed : x ?")
	f(`{"method":"POST","uri":"/users/1","status":500,"error":"bad"}`, "1  | POST /users/?: bad")
	f(`{"log":"2026/11/20 14:02:11 WARN low 5\n","stream":"stderr"}`, "1 warn | low ?")
	f(`{"log":"{\"level\":\"info\",\"msg\":\"a\\\"b\"}\n"}`, "1 info | a\"b")
	f(`{"severity":"info","message":"q","sql":"SELECT a FROM b WHERE c='x'"}`, "1 info sql | select a from b where c=?")
	f(`{"a":1,"b":`, `1  | {?:?,?:`)
	f(`time="2026-11-20T14:02:11Z" level=warning msg="slow 12 \"x\"" user=bob`, "1 warn | slow ? ?")
	f(`time=2026-11-20T14:02:11Z level=ERROR msg=x err="Error 1205 (HY000): Lock wait"`, "1 error 1205 | x: Error ? (HY?): Lock wait")
	f(`a=b c`, "1  | a=b c")
	// SQL.
	f("2026/11/20 14:02:11 [1.23ms]  INSERT INTO users (id) VALUES ('abc')", "1  sql | insert into users (id) values(?+)")
	f("[2026-11-20 14:02:11]  [0.4ms]  UPDATE `users` SET `name` = 'x''y' WHERE id = '5'", "1  sql | update `users` set `name` = ? where id = ?")
	f("  User Load (0.3ms)  SELECT `u`.* FROM `u` LIMIT 1  [[\"id\", 1]]", "1  sql | select `u`.* from `u` limit ?")
	f(`DEBUG exec: sql="DELETE FROM t WHERE a=\"x\"" took=5ms`, "1 debug sql | delete from t where a=?")
	f("replace into t set a=1", "1  sql | replace into t set a=?")
	f("Error 1062 (23000): Duplicate entry 'x' for key 'PRIMARY': INSERT INTO t VALUES (1)", "1 error 1062 sql | Error ? (?): Duplicate entry ? for key ?: insert into t values(?+)")
	f("please select an item from the list", "1  | please select an item from the list")
	f("could not delete from cache", "1  | could not delete from cache")
	f("failed to update the set", "1  | failed to update the set")
	f("executing select a from b", "1  sql | select a from b")
	f("GET /select from", "1  | GET /select from")
	// Secrets.
	f("login password=hunter2 token: abc Bearer xyz.1", "1  | login password=*** token: *** Bearer ***")
	f("open root:geheim@tcp(127.0.0.1:3306)/x", "1  | open root:***@tcp(?)/x")
}

func TestRead_Continued(t *testing.T) {
	f := func(log string, want ...string) kasoku.LogWindow {
		t.Helper()
		table, w := read(t, log, Options{})
		ms := table.Messages()
		if got := brief(ms); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", log, got, want)
		}
		var bytes uint64
		for _, m := range ms {
			bytes += m.Bytes
		}
		if blank := strings.Count("\n"+log, "\n\n"); bytes+uint64(blank) != uint64(len(log)) || w.Lines != w.Records+w.Continued+w.Blank {
			t.Errorf("%s\n%d of %d bytes, window %+v", log, bytes, len(log), w)
		}
		return w
	}
	f("2026/11/20 14:02:11 [0.61ms]  UPDATE users SET a='x' WHERE id='1'\n[1 rows affected or returned]\n"+
		"2026/11/20 14:02:11 [0.7ms]  UPDATE users SET a='y' WHERE id='2'\n[0 rows affected or returned ]\n",
		"2  sql | update users set a=? where id=?")
	f("\n(/app/main.go:12) \n[2026-11-20 14:02:11]  [1.2ms]  SELECT * FROM users  \n[3 rows affected or returned ] \n",
		"1  sql | select * from users")
	f("2026/11/20 14:02:11 /app/main.go:12\n[0.512ms] [rows:1] SELECT * FROM `users` WHERE id = 5\n"+
		"2026/11/20 14:02:11 /app/main.go:12 Error 1040: Too many connections\n[0.5ms] [rows:0] INSERT INTO `users` (`id`) VALUES (1)\n",
		"1 error 1040 sql | /app/main.go:? Error ?: Too many connections [?] [rows:?] insert into `users` (`id`) values(?+)",
		"1  sql | select * from `users` where id = ?")
	f("[1ms] SELECT a\nFROM b\nWHERE c = 1\n[1 rows affected or returned]\ndone\n",
		"1  | done", "1  sql | select a from b where c = ?")
	f("10:00:00 run query:\n    SELECT a\n    FROM b\n10:00:01 ok\n", "1  | ok", "1  sql | select a from b")
	f("panic: oh\n\ngoroutine 1 [running]:\nmain.main.func1({0x1, 0x2})\n\t/app/main.go:7 +0x1d\ncreated by main.main in goroutine 1\n\t/app/main.go:9 +0x25\nexit status 2\nnext\n",
		"1  | next", "1 error | panic: oh")
	f("2026/11/20 14:02:11 http: panic serving 1.2.3.4:5: boom\ngoroutine 5 [running]:\nnet/http.(*conn).serve.func1()\n\t/usr/x.go:1 +0x1\npanic({0x1, 0x2})\n2026/11/20 14:02:12 next\n",
		"1 error | http: panic serving ?: boom", "1  | next")
	f("ERROR:root:add\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\npymysql.err.OperationalError: (1040, 'x')\nINFO:root:ok\n",
		"1 error 1040 | root:add", "1 info | root:ok")
	f("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: 5\nok\n", "1 error | ValueError: ?", "1  | ok")
	f("SEVERE: x\n\tat a.B.c(D.java:1)\nCaused by: java.sql.SQLException: Error: 1040, y\n\t... 3 more\n", "1 error 1040 | x")
	f("Error: connect\n    at f (a.js:1:2) {\n  errno: 1040,\n", "1 error 1040 | Error: connect")
}

func TestRead_Clock(t *testing.T) {
	log := "a 1\nb 2\na 3\na 4\nout 5\n" // 4 bytes each: a second
	clock := func(offset int64) time.Duration { return time.Duration(offset) * time.Second / 4 }
	table, w := read(t, log, Options{Host: "h", Path: "p", Clock: clock, Interval: kasoku.Interval{To: 3 * time.Second}})
	ms := table.Messages()
	if got, want := brief(ms), []string{"3  | a ?", "1  | b ?"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	a := ms[0]
	if a.Host != "h" || a.Path != "p" || a.First != 0 || a.Last != 3*time.Second-1 || a.Sample != "a 1" || a.Bytes != 12 ||
		len(a.Seconds) != 2 || a.Seconds[0] != 1 || a.Seconds[2] != 2 {
		t.Errorf("message %+v", a)
	}
	if w.Host != "h" || w.Path != "p" || w.Kind != "applog" || w.Format != "text" || w.Records != 5 || w.Note != "1 entries outside of the run" {
		t.Errorf("window %+v", w)
	}
	table, _ = read(t, log, Options{Interval: kasoku.Interval{From: time.Second, To: 3 * time.Second}})
	if a := table.Messages()[0]; a.First != time.Second || a.Last != 3*time.Second-1 || a.Seconds != nil {
		t.Errorf("without a clock: %+v", a)
	}
}

func TestRead_Format(t *testing.T) {
	f := func(log, want string) {
		t.Helper()
		if _, w := read(t, log, Options{}); w.Format != want {
			t.Errorf("%q: %s, want %s", log, w.Format, want)
		}
	}
	f("", "text")
	f("a\n{\"msg\":\"b\"}\n{\"msg\":\"c\"}\n", "json")
	f("level=info msg=a\n", "logfmt")
	f("level=info msg=a\nb\n", "text")
}

func TestRead_Rubbish(t *testing.T) {
	log := "\x01\x02\x03\x04\n" + strings.Repeat("\x00", 5000) + "2026/11/20 14:02:11 hello 1\n" + strings.Repeat("x", 2<<20) + "\n\n"
	table, w := read(t, log, Options{})
	ms := table.Messages()
	if len(ms) != 2 || ms[0].Pattern != "hello ?" || len(ms[1].Pattern) > maxPattern+10 || len(ms[1].Sample) > maxSample+10 || ms[1].Bytes != 2<<20+1 {
		t.Errorf("messages %.300q", brief(ms))
	}
	if w.Lines != 4 || w.Records != 2 || w.Dropped != 1 || w.Blank != 1 || len(w.BadSample) != 1 || !strings.Contains(w.Note, "1 line longer") {
		t.Errorf("window %+v", w)
	}
}

func TestRead_Error(t *testing.T) {
	broken := errors.New("broken")
	w := lines.NewReader(io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken)), 0)
	table, err := Read(w, Options{Path: "app.log"})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "application log app.log: ") || len(table.Messages()) != 2 {
		t.Errorf("%v, %q", err, brief(table.Messages()))
	}
}

func TestRead_ManyPatterns(t *testing.T) {
	var b strings.Builder
	word := func(i int) string {
		return string([]byte{'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%26), 'g'})
	}
	for i := range 5000 {
		fmt.Fprintf(&b, "kind %s\n", word(i))
		if i%1000 == 0 {
			b.WriteString("Error 1040: Too many connections\n")
		}
	}
	table, w := read(t, b.String(), Options{})
	ms := table.Messages()
	var count, bytes uint64
	for _, m := range ms {
		count += m.Count
		bytes += m.Bytes
	}
	if len(ms) > maxPatterns || count != w.Records || bytes != uint64(b.Len()) {
		t.Errorf("%d messages, %d of %d records, %d of %d bytes", len(ms), count, w.Records, bytes, b.Len())
	}
	if ms[0].Pattern != otherPattern || ms[0].Sample != otherPattern || ms[1].Code != "1040" || ms[1].Count != 5 {
		t.Errorf("messages %q", brief(ms[:3]))
	}
	if want := fmt.Sprintf("%d entries of rare patterns added up", ms[0].Count); w.Note == "" || !strings.HasSuffix(table.Window(lines.NewReader(strings.NewReader(""), 0)).Note, want) {
		t.Errorf("note %q, want %q", w.Note, want)
	}
}

func TestRead_Sample(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		table, _ := read(t, line+"\n", Options{})
		if got := table.Messages()[0].Sample; got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	f("2026/11/20 14:02:11 error: add user: Error 1040 (08004): Too many connections", "add user: Error 1040 (08004): Too many connections")
	f("2026/11/20 14:02:11 [1.23ms]  INSERT INTO users (id) VALUES ('geheim''x', 5)", "[1.23ms]  INSERT INTO users (id) VALUES (?, ?)")
	f(`exec "SELECT a FROM b WHERE c = \"geheim\"" 5ms`, `exec "SELECT a FROM b WHERE c = ?" ?`)
	f(`SELECT a FROM b WHERE c = ? ["geheim"] 5ms`, "SELECT a FROM b WHERE c = ?")
	f("set password: 'geheim' now\x07", "set password: '***' now")
}

// TestRead_Hostile: lines made to be slow take a time that grows with their
// length only. At the square of it, this would take minutes.
func TestRead_Hostile(t *testing.T) {
	for _, piece := range []string{`"\"`, `'\'`, "select ", "update a,", "Bearer x ", "error ", "(", "[::", "SELECT a FROM b ['\"\\", "password=x ", "1:", "SQLSTATE[", "INSERT INTO `"} {
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, "%c%s\n", 'a'+i, strings.Repeat(piece, maxText/len(piece)))
		}
		read(t, b.String(), Options{})
	}
}
