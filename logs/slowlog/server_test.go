package slowlog

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// sent are statements as programs send them, and as they tend to break logs.
var sent = []string{
	"CREATE TABLE shop.t (id int primary key, a text, b blob)",
	"INSERT INTO shop.t VALUES (1, 'one', ''), (2, 'it''s', 0x00ff0a)",
	"INSERT INTO shop.t VALUES (3, 'x;\n# Time: 261120  9:35:53\n# User@Host: root[root] @ localhost []\n# Query_time: 1  Lock_time: 0\nSET timestamp=1;\nSELECT 99;\n', NULL)",
	"INSERT INTO shop.t VALUES (4, 'back\\\\slash \\' \\n', _binary'\\0\x01\x02\n\\'')",
	"SELECT a FROM shop.t WHERE id = 1",
	"SELECT a FROM shop.t WHERE id = 2 /* controller:items,action:show */",
	"SELECT a\nFROM shop.t\n-- it's a comment\nWHERE id = 3",
	"SELECT \"double \\\" quoted\", `a` FROM shop.t WHERE a LIKE '%\\_%'",
	"BEGIN",
	"UPDATE shop.t SET a = 'two' WHERE id = 2",
	"COMMIT /* Rename */",
	"SELECT 1 FROM shop.t WHERE id IN (1, 2, 3)",
	"SELECT 1 FROM shop.t WHERE id IN (4)",
}

// send sends the statements over one connection, and some prepared.
func send(t *testing.T, db *sql.DB) {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range sent {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	}
	p, err := c.PrepareContext(t.Context(), "SELECT a FROM shop.t WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 12 {
		var a string
		if err := p.QueryRowContext(t.Context(), i%4+1).Scan(&a); err != nil {
			t.Fatal(err)
		}
	}
	// A server logs a statement after its answer, and before the next statement.
	if _, err := c.ExecContext(t.Context(), "DO 0"); err != nil {
		t.Fatal(err)
	}
}

// logged switches a log on, sends the statements and returns what was logged.
func logged(t *testing.T, s *sandbox.Server, on ...string) (string, []byte) {
	t.Helper()
	db := sandboxtest.DB(t, s, "")
	exec := func(q string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%q: %v", q, err)
		}
	}
	exec("CREATE DATABASE IF NOT EXISTS shop")
	exec("DROP TABLE IF EXISTS shop.t")
	path := filepath.Join(s.Dir, "test.log")
	_ = os.Remove(path)
	for _, q := range on {
		exec(strings.ReplaceAll(q, "PATH", path))
	}
	worker := sandboxtest.DB(t, s, "") // long_query_time counts for new connections
	send(t, worker)
	worker.Close()
	exec("SET GLOBAL slow_query_log = 0")
	exec("SET GLOBAL general_log = 0")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, b
}

// checkSent reads a log in all ways, and compares it with what was sent.
func checkSent(t *testing.T, path, format string, log []byte) {
	t.Helper()
	var got []string
	r := NewReader(lines.NewReader(bytes.NewReader(log), 0))
	for r.Scan() {
		if e := r.Event(); !e.Admin {
			got = append(got, string(e.Statement))
		}
	}
	checkAccount(t, r)
	if a := r.Account(); a.Dropped != 0 || r.Format() != format {
		t.Errorf("format %q, account %+v", r.Format(), a)
	}
	first := slices.Index(got, sent[0])
	if first < 0 || len(got) < first+len(sent)+12 || !slices.Equal(got[first:first+len(sent)], sent) {
		t.Fatalf("read %q, want %q", got, sent)
	}
	for i, s := range got[first+len(sent):][:12] {
		if want := fmt.Sprintf("SELECT a FROM shop.t WHERE id = %d", i%4+1); s != want && s != strings.Replace(want, "= ", "= '", 1)+"'" {
			t.Errorf("execution %d is %q, want %q", i, s, want)
		}
	}
	want := outcome(t, []lines.Input{{Path: path}}, Options{Workers: 1, Attributes: true}, lines.SplitOptions{})
	for _, block := range []int{50, 1000, 0} {
		if got := outcome(t, []lines.Input{{Path: path}}, Options{Workers: 3, Attributes: true}, lines.SplitOptions{BlockSize: block}); got != want {
			t.Errorf("blocks of %d:\n%s", block, firstDifference(got, want))
		}
	}
	table, _, err := CollectAll(context.Background(), []lines.Input{{Path: path}}, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := table.Transactions()
	if len(x) != 1 || x[0].Verbs != "UPDATE" || x[0].Tag != "Rename" || x[0].ReadOnly {
		t.Errorf("transactions %+v", x)
	}
	lookups := 0
	for _, q := range table.Queries() {
		if strings.HasPrefix(q.Fingerprint, "select a from shop.t where id=?") || strings.HasPrefix(q.Fingerprint, "select a from shop.t where id = ?") {
			lookups += int(q.Calls)
			if q.Calls > 10 && (q.Streaks < 12 || q.Distinct != 4) {
				t.Errorf("lookups %+v", q)
			}
		}
	}
	if lookups < 14 {
		t.Errorf("%d lookups", lookups)
	}
}

func TestServers_SlowLog(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		on := []string{"SET GLOBAL slow_query_log_file = 'PATH'", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = 1"}
		variants := map[string][]string{"plain": nil}
		format := "mysql"
		if s.Kind == sandbox.KindMariaDB {
			format = "mariadb"
			variants["verbose"] = []string{"SET GLOBAL log_slow_verbosity = 'query_plan,innodb,explain'"}
		} else {
			variants["extra"] = []string{"SET GLOBAL log_slow_extra = 1"}
			variants["system time"] = []string{"SET GLOBAL log_timestamps = SYSTEM"}
		}
		for name, more := range variants {
			t.Run(name, func(t *testing.T) {
				path, log := logged(t, s, append(more, on...)...)
				checkSent(t, path, format, log)
			})
		}
	})
}

func TestServers_GeneralLog(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		path, log := logged(t, s, "SET GLOBAL general_log_file = 'PATH'", "SET GLOBAL general_log = 1")
		checkSent(t, path, "general", log)
	})
}
