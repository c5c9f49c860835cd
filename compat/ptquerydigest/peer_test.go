package ptquerydigest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// ours runs Run and returns what it prints.
func ours(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Run(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, errs.String())
	}
	return out.String()
}

// theirs runs pt-query-digest.
func theirs(t testing.TB, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, append([]string{"--no-version-check"}, args...)...)
	c.Env = append(os.Environ(), "TZ=UTC")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return string(out)
}

var (
	perRun    = regexp.MustCompile(`(?m)^# (\d\S* user time, .*|Current date: .*|Hostname: .*)$`)
	thousand  = regexp.MustCompile(`1000ms`)                   // pt-query-digest prints 0 of a sum of 0.9999999999999999
	tables    = regexp.MustCompile(`(?m)^#    SHOW .*\n`)      // --since lets through events without a database, see chance
	slowExtra = regexp.MustCompile(`(?m)^# (Start|End)  .*\n`) // pt-query-digest counts every time that MySQL's log_slow_extra logs
)

// comparable hides what differs from run to run; of JSON the order of the keys.
func comparable(t testing.TB, s string) string {
	t.Helper()
	if !strings.HasPrefix(strings.TrimSpace(s), "{") {
		s = thousand.ReplaceAllString(perRun.ReplaceAllString(s, "# per run"), "     0")
		return slowExtra.ReplaceAllString(s, "")
	}
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %.200s", err, s)
	}
	out, err := json.MarshalIndent(mended(v), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// mended leaves out what docs/compat.md says, and mends texts that were taken for Latin-1 and made UTF-8 once more, as
// pt-query-digest does.
func mended(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"Start", "End"} {
			delete(v, k)
		}
		for k := range v {
			v[k] = mended(v[k])
		}
	case []any:
		for i := range v {
			v[i] = mended(v[i])
		}
	case string:
		var b []byte
		for _, r := range v {
			if r > 0xff {
				return v
			}
			b = append(b, byte(r))
		}
		if utf8.Valid(b) {
			return string(b)
		}
	}
	return v
}

func same(t testing.TB, what, got, want string) bool {
	t.Helper()
	g, w := comparable(t, got), comparable(t, want)
	if g == w {
		return true
	}
	t.Errorf("%s:\n%.4000s", what, diff.Diff("pt-query-digest", []byte(w), "kasoku", []byte(g)))
	return false
}

// sampleLog unpacks a real log: MariaDB 10.11, log_slow_verbosity=query_plan,innodb.
func sampleLog(t testing.TB) string {
	t.Helper()
	return unpacked(t, "testdata/mariadb-10.11.log.gz", "slow.log")
}

func unpacked(t testing.TB, name, as string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, as, string(data))
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// commandLines are what is compared; the log's name is appended to each.
var commandLines = []string{
	"", "--limit 100%", "--limit 3", "--limit 50%:5 --outliers Query_time:0.001:2", "--output json --limit 1000", "--output json-anon",
	"--report-format profile", "--report-format header,profile --limit 5", "--group-by user", "--group-by distill", "--group-by db", "--group-by host",
	"--group-by user,fingerprint --limit 1,3", "--order-by Query_time:max", "--order-by Query_time:cnt --limit 100%", "--order-by Rows_examined:sum",
	"--no-vertical-format", "--max-line-length 50", "--show-all user", "--expected-range 1,2", "--sample 2", "--no-report --output slowlog",
	"--output secure-slowlog", "--filter $event->{Rows_examined}>1000", "--filter $event->{arg}=~m/^select/i", "--filter ($event->{db}||'')eq'shop'",
	"--since=261120\x0008:38:36", "--until=2026-11-20\x0009:00:00", "--since=2026-11-21",
}

// arguments splits a command line; a NUL is a blank within an argument.
func arguments(line, log string) []string {
	var out []string
	for _, a := range strings.Fields(line) {
		out = append(out, strings.ReplaceAll(a, "\x00", " "))
	}
	return append(out, log)
}

func TestRun_AsPtQueryDigest(t *testing.T) {
	turn.Wait(t)
	program := peertest.Path(t, "pt-query-digest")
	log := sampleLog(t)
	for _, line := range commandLines[:12] {
		args := arguments(line, log)
		same(t, line, ours(t, args...), theirs(t, program, args...))
	}
}

// TestRun_Recorded has what pt-query-digest 3.2.1 printed of the sample, so that a
// short run without it compares as well.
func TestRun_Recorded(t *testing.T) {
	turn.Wait(t)
	t.Chdir(filepath.Dir(sampleLog(t)))
	for name, line := range map[string]string{"report": "", "profile": "--report-format profile --limit 100%", "json": "--output json"} {
		args := arguments(line, "slow.log")
		got := comparable(t, ours(t, args...))
		if golden.Update() {
			got = comparable(t, theirs(t, peertest.Path(t, "pt-query-digest"), args...))
		}
		golden.Check(t, filepath.Join(testdata, name+".golden"), []byte(got))
	}
}

// TestRun_Cases has what pt-query-digest 3.2.1 printed of two small logs that begin on
// the evening before.
func TestRun_Cases(t *testing.T) {
	turn.Wait(t)
	t.Chdir(testdata)
	for name, line := range map[string]string{
		"since":       "--since=2026-11-21 --limit 100% first.log",                              // no database of an event that is too early
		"since-until": "--since=2026-11-21 --until=2026-11-21\x0000:09:00 first.log second.log", // counts anew in each file
		"outliers":    "--group-by user,fingerprint --limit 1,1 first.log",                      // for the first grouping only
		"outliers-2":  "--group-by user,fingerprint --limit 1,1 --outliers user:1,Query_time:1:10 first.log",
		"order":       "--order-by Rows_affected:sum --limit 100% first.log", // that few events have
		"order-none":  "--order-by Rows_read:max first.log",                  // that no event has
		"tie":         "--since=2026-11-21 --order-by Rows_sent:max --report-format profile --limit 100% first.log second.log",
		"rare":        "--outliers Rows_read:0 --limit 1 --report-format profile first.log",
		"millisecond": "--report-format header,profile millisecond.log",                                                          // times whose sum is a little less
		"wait":        "--group-by host wait.log",                                                                                // shares of times whose sum depends on the order
		"distill":     "--group-by user,distill --limit 2 first.log",                                                             // distill is an attribute of users
		"genlog":      "--type genlog --group-by user,distill --limit 5 --report-format header,profile general.log",              // the sender once
		"sections":    "--report-format header,files,profile,header,query_report,files --group-by user,host --limit 1 first.log", // lines between
		"rate":        "--group-by fingerprint,user --report-format header,query_report rate.log",                                // of Percona's servers
		"rate-json":   "--output json rate.log",
		"nothing":     "--group-by user,fingerprint --since=2026-11-22 first.log second.log",
		"no-second":   "--group-by user,db --report-format profile --filter $event->{Query_time}==2 --since=2026-11-21 first.log",
	} {
		args := arguments(line, "")
		args = args[:len(args)-1]
		got := comparable(t, ours(t, args...))
		if golden.Update() {
			got = comparable(t, theirs(t, peertest.Path(t, "pt-query-digest"), args...))
		}
		golden.Check(t, filepath.Join(testdata, "case-"+name+".golden"), []byte(got))
	}
}

// testdata is absolute, for a test that goes elsewhere.
var testdata = func() string {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	return dir
}()

// TestRun_AnyLog compares on logs of chance: times around the edges of units and
// buckets, ties, missing attributes, both forms of times. -run TestRun_AnyLog/^96$
// runs one of them.
func TestRun_AnyLog(t *testing.T) {
	program := peertest.Path(t, "pt-query-digest")
	n := 60
	if os.Getenv("KASOKU_LONG") == "1" {
		n = 2000
	}
	failed := 0
	for seed := range n {
		if !t.Run(strconv.Itoa(seed), func(t *testing.T) {
			turn.Wait(t)
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			log := write(t, "slow.log", chance(r))
			args := arguments(commandLines[r.IntN(len(commandLines))], log)
			got, want := ours(t, args...), theirs(t, program, args...)
			if strings.HasPrefix(args[0], "--since") {
				got, want = tables.ReplaceAllString(got, ""), tables.ReplaceAllString(want, "")
			}
			same(t, fmt.Sprintf("%q", args), got, want)
		}) {
			if failed++; failed == 3 {
				t.Fatal("and so on")
			}
		}
	}
}

// chance makes a slow log. The first event names its database, so that none is
// without one: there pt-query-digest puts a number in the database's place.
func chance(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	forms := []string{
		"select a from %s where id = %d", "insert into %s values (%d)", "update %s set a = %d where b = 2", "delete from %s where id = %d",
		"replace into %s values (%d)", "insert into %s (a,b) values (%d,2),(3,4)", "select b.c from %s join u on 1 where x in (%d)",
		"call p(%[2]d)", "select sleep(%[2]d)", "commit", "begin", "show tables", "set names utf8", "create table %s (a int)", "truncate table %s",
	}
	var classes []string
	for range 1 + r.IntN(30) {
		classes = append(classes, forms[r.IntN(len(forms))]+"\x00"+pick("t", "items", "orders", "a_very_long_table_name_that_is_long", "db2.x", "`q`"))
	}
	times := []func() float64{
		func() float64 { return r.Float64() / 1000 }, func() float64 { return 10 * r.Float64() },
		func() float64 { return math.Exp(2*r.NormFloat64() - 6) }, func() float64 { return float64(r.IntN(2000)) / 1000 },
		func() float64 { return []float64{0, 0, 1e-6, 0.5, 1, 2}[r.IntN(6)] },
	}
	took := times[r.IntN(len(times))]
	iso, verbose, span := r.IntN(2) == 0, r.IntN(4), []int{0, 0, 1, 10, 3600, 90000}[r.IntN(6)]
	at := time.Unix(1795163000, 0).UTC()
	var b strings.Builder
	for i := range []int{1, 2, 3, 5, 8, 20, 60, 200}[r.IntN(8)] {
		at = at.Add(time.Duration(r.IntN(span+1)) * time.Second)
		switch {
		case iso:
			fmt.Fprintf(&b, "# Time: %s.%06dZ\n", at.Format("2006-01-02T15:04:05"), r.IntN(1e6))
		case i == 0 || r.IntN(5) > 0:
			fmt.Fprintf(&b, "# Time: %s %2d:%s\n", at.Format("060102"), at.Hour(), at.Format("04:05"))
		}
		user := fmt.Sprintf("u%d", r.IntN(12))
		fmt.Fprintf(&b, "# User@Host: %s[%[1]s] @ %s []\n", user, pick("h", "web1.example.com", "10.0.0.1", "localhost"))
		fmt.Fprintf(&b, "# Query_time: %.6f  Lock_time: %.6f  Rows_sent: %d  Rows_examined: %d\n", took(), took()/10, r.IntN(20), r.IntN(3_000_000))
		if verbose > 0 {
			fmt.Fprintf(&b, "# Rows_affected: %d  Bytes_sent: %d\n", r.IntN(3), r.IntN(100_000))
		}
		if verbose > 1 && r.IntN(3) > 0 {
			fmt.Fprintf(&b, "# Full_scan: %s  Full_join: %s  Tmp_table: No  Last_errno: %s\n", pick("Yes", "No"), pick("No", "No", "Yes"), pick("0", "1062"))
		}
		if verbose > 2 {
			fmt.Fprintf(&b, "# InnoDB_IO_r_ops: %d  InnoDB_IO_r_bytes: %d  InnoDB_IO_r_wait: %.6f\n", r.IntN(9), r.IntN(99_999), took())
		}
		if i == 0 || r.IntN(3) == 0 {
			fmt.Fprintf(&b, "use %s;\n", pick("shop", "isucondition_long", "d2"))
		}
		form, table, _ := strings.Cut(classes[r.IntN(len(classes))], "\x00")
		sql := fmt.Sprintf(form, table, 1+r.IntN(1000))
		if i := strings.Index(sql, "%!(EXTRA"); i >= 0 {
			sql = sql[:i]
		}
		fmt.Fprintf(&b, "SET timestamp=%d;\n%s;\n", at.Unix(), sql)
	}
	return b.String()
}

// TestRun_RealServers compares on logs that servers write during the test. The
// head of MariaDB's log is left out, because pt-query-digest loses the event
// after it.
func TestRun_RealServers(t *testing.T) {
	turn.Wait(t)
	program := peertest.Path(t, "pt-query-digest")
	o := sandbox.Options{Vars: map[string]string{"long_query_time": "0", "slow_query_log": "ON"}}
	sandboxtest.Each(t, o, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		if s.Kind == sandbox.KindMariaDB {
			sandboxtest.Exec(t, db, "SET GLOBAL log_slow_verbosity='query_plan,innodb'")
		} else {
			sandboxtest.Exec(t, db, "SET GLOBAL log_slow_extra=ON")
		}
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(40), price INT)")
		shop := sandboxtest.DB(t, s, "shop")
		for i := range 60 {
			sandboxtest.Exec(t, shop,
				fmt.Sprintf("INSERT INTO items VALUES (%d, 'name %d', %d), (%d, 'x', 2)", 2*i, i, i*7, 2*i+1),
				fmt.Sprintf("SELECT * FROM items WHERE name = 'name %d' ORDER BY price", i),
				fmt.Sprintf("UPDATE items SET price = %d WHERE id = %d", i, i),
				"BEGIN", fmt.Sprintf("DELETE FROM items WHERE id = %d", i*2), "COMMIT /* Tidy */",
				"SELECT COUNT(*), SLEEP(0.001) FROM items GROUP BY price > 5")
		}
		data, err := os.ReadFile(s.SlowLog)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(data, []byte("\n# Time")); i >= 0 && !bytes.HasPrefix(data, []byte("# ")) {
			data = data[i+1:]
		}
		log := write(t, "slow.log", string(data))
		for _, line := range []string{"", "--output json --limit 1000", "--report-format profile --limit 100%", "--no-report --output slowlog", "--group-by distill"} {
			args := arguments(line, log)
			same(t, line, ours(t, args...), theirs(t, program, args...))
		}
	})
}
