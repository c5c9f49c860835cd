package settings

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// read asks a server over a connection of its own.
func read(t *testing.T, db *sql.DB, o ReadOptions) Input {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in, err := Read(t.Context(), conn, o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// badConfigs are what people write, by kind of server. Each has what must be proposed.
var badConfigs = map[string][]struct {
	vars map[string]string
	args []string
	want []string
}{
	sandbox.KindMariaDB: {
		{
			vars: map[string]string{
				"max_connections": "10000", "sort_buffer_size": "67108864", "join_buffer_size": "67108864", "thread_cache_size": "0", "innodb_file_per_table": "0",
				"innodb_flush_neighbors": "2", "innodb_io_capacity": "100", "innodb_log_file_size": "8388608", "long_query_time": "20",
			},
			want: []string{"sort_buffer_size", "join_buffer_size", "thread_cache_size", "innodb_file_per_table", "innodb_log_file_size", "long_query_time"},
		},
		{
			vars: map[string]string{"key_buffer_size": "2G", "open_files_limit": "50", "table_definition_cache": "400", "server_id": "3"},
			args: []string{"--log-bin=mysql-bin", "--sync-binlog=1", "--query-cache-type=1", "--query-cache-size=16M", "--innodb-adaptive-hash-index=1"},
			want: []string{"key_buffer_size"},
		},
	},
	sandbox.KindMySQL97: {
		{
			vars: map[string]string{
				"max_connections": "8000", "sort_buffer_size": "67108864", "join_buffer_size": "67108864", "thread_cache_size": "0", "innodb_file_per_table": "0",
				"innodb_flush_neighbors": "2", "innodb_io_capacity": "100", "long_query_time": "20",
			},
			want: []string{"sort_buffer_size", "join_buffer_size", "thread_cache_size", "innodb_file_per_table", "long_query_time"},
		},
		{
			vars: map[string]string{"key_buffer_size": "2G", "innodb_buffer_pool_size": "1G", "innodb_redo_log_capacity": "8M", "innodb_log_buffer_size": "1M"},
			args: []string{"--innodb-adaptive-hash-index=1", "--sync-binlog=1"},
			want: []string{"key_buffer_size"},
		},
	},
}

// TestReal: a server with its defaults, and servers with bad settings. All advice can be
// taken: each statement runs, a server starts with each line, and then there is none left
// to take. Two GiB of memory make what is too large felt.
func TestReal(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{sandbox.KindMariaDB, sandbox.KindMySQL97} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			takeAll(t, kind, sandbox.Options{}, nil)
			for i, c := range badConfigs[kind] {
				t.Run(fmt.Sprint("bad", i), func(t *testing.T) {
					t.Parallel()
					takeAll(t, kind, sandbox.Options{Vars: c.vars, Args: c.args}, c.want)
				})
			}
		})
	}
}

func start(t *testing.T, kind string, o sandbox.Options) *sandbox.Server {
	t.Helper()
	if kind == sandbox.KindMariaDB {
		return sandboxtest.MariaDB(t, o)
	}
	return sandboxtest.MySQL97(t, o)
}

const memory = 4 << 30

// takeAll does what a user may do with advice, both ways.
func takeAll(t *testing.T, kind string, o sandbox.Options, want []string) {
	s := start(t, kind, o)
	db := sandboxtest.DB(t, s, "")
	before := read(t, db, ReadOptions{RAM: memory})
	// The disk of a test is any.
	before.System.Rotational, before.Lacks = new(bool), without(before.Lacks, PartDisk)
	r := check1(t, before)
	set := changes(r.Advice)
	for _, name := range want {
		if _, ok := set[name]; !ok {
			t.Errorf("%s is not proposed: %v", name, set)
		}
	}
	sandboxtest.Exec(t, db, Statements(r.Advice, kasoku.RiskSemantics)...)
	now := read(t, db, ReadOptions{RAM: memory})
	for _, a := range r.Advice {
		if a.SetGlobal != "" && !sameValue(now.Variables[a.Variable], a.Proposed) {
			t.Errorf("after %s it is %q", a.SetGlobal, now.Variables[a.Variable])
		}
	}
	startWith(t, kind, before, r.Advice, o)
}

func without(all []Lack, p Part) []Lack {
	return slices.DeleteFunc(slices.Clone(all), func(l Lack) bool { return l.Part == p })
}

// startWith starts a server with all lines for its option file, on top of what it had,
// and asks it again.
func startWith(t *testing.T, kind string, before Input, all []kasoku.Advice, o sandbox.Options) {
	t.Helper()
	lines := ConfLines(all, kasoku.RiskSemantics)
	var args []string
	for _, l := range lines {
		name, value, ok := strings.Cut(l, " = ")
		if ok {
			name += "=" + value
		}
		args = append(args, "--"+name)
	}
	o.Args = append(slices.Clone(o.Args), args...)
	db := sandboxtest.DB(t, start(t, kind, o), "")
	after := read(t, db, ReadOptions{RAM: memory})
	for _, a := range all {
		if a.Variable != "" && !sameValue(after.Variables[a.Variable], a.Proposed) {
			t.Errorf("started with %s it has %q", a.ConfLine, after.Variables[a.Variable])
		}
	}
	after.System.Rotational, after.Lacks = new(bool), without(after.Lacks, PartDisk)
	// Its counters are those of another life.
	after.Status, after.Grown, after.SchemaMemory, after.Memory = before.Status, before.Grown, before.SchemaMemory, before.Memory
	if left := changes(check1(t, after).Advice); len(left) > 0 {
		t.Errorf("with %q it still proposes %v", args, left)
	}
}

// TestEveryStatement: what the checks propose for the states of checkCases is taken by
// the real servers, those that MySQL has no more or MariaDB not yet left out.
func TestEveryStatement(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{sandbox.KindMariaDB, sandbox.KindMySQL97} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := start(t, kind, sandbox.Options{Args: []string{"--log-bin=binlog"}})
			db := sandboxtest.DB(t, s, "")
			real := read(t, db, ReadOptions{RAM: memory})
			lines := map[string]string{}
			for _, c := range checkCases {
				for _, a := range proposedOn(t, real, c) {
					lines[a.Variable] = a.ConfLine
					if a.SetGlobal == "" {
						continue
					}
					if _, err := db.ExecContext(t.Context(), a.SetGlobal); err != nil {
						t.Errorf("%s: %s: %v", c.id, a.SetGlobal, err)
					}
				}
			}
			if len(lines) < 25 {
				t.Errorf("only %d variables were proposed: %v", len(lines), slices.Sorted(maps.Keys(lines)))
			}
			t.Logf("%d variables: %v", len(lines), slices.Sorted(maps.Keys(lines)))
			var args []string
			for _, name := range slices.Sorted(maps.Keys(lines)) {
				args = append(args, "--"+strings.ReplaceAll(lines[name], " = ", "="))
			}
			sandboxtest.DB(t, start(t, kind, sandbox.Options{Args: args}), "")
		})
	}
}

// proposedOn returns what a case makes the checks propose on a real server.
func proposedOn(t *testing.T, real Input, c checkCase) []kasoku.Advice {
	maria := serverOf(real.Variables).maria()
	if maria && c.server != nil || strings.Contains(c.fire, "version=") {
		return nil
	}
	in := mariaDB()
	if !maria {
		in = mySQL()
	}
	in.Variables = maps.Clone(real.Variables)
	if c.change != nil {
		c.change(&in, true)
	}
	for name, value := range pairs(c.fire) {
		if _, ok := real.Variables[name]; ok {
			in.Variables[name] = value
		} else if v, err := strconv.ParseFloat(value, 64); err == nil {
			in.Status = maps.Clone(in.Status)
			in.Status[name] = v
		}
	}
	return slices.DeleteFunc(Examine(in).Advice, func(a kasoku.Advice) bool { return a.Variable == "" })
}

func pairs(text string) map[string]string {
	out := map[string]string{}
	for _, p := range strings.Fields(text) {
		name, value, _ := strings.Cut(p, "=")
		out[name] = value
	}
	return out
}

// TestDynamic: MariaDB itself says which variables SET GLOBAL takes.
func TestDynamic(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	db := sandboxtest.DB(t, sandboxtest.MariaDB(t, sandbox.Options{}), "")
	in := read(t, db, ReadOptions{})
	rows, err := db.QueryContext(t.Context(), "SELECT LOWER(VARIABLE_NAME), READ_ONLY FROM information_schema.SYSTEM_VARIABLES")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, fixed string
		if err := rows.Scan(&name, &fixed); err != nil {
			t.Fatal(err)
		}
		if _, ok := settings[name]; ok && serverOf(in.Variables).atRuntime(name) != (fixed == "NO") {
			t.Errorf("%s: read-only %s, and atRuntime is %t", name, fixed, !(fixed == "NO"))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestFewRights: an account without a right learns what it does not see, and which
// GRANT shows it; with those grants it sees it.
func TestFewRights(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		root := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, root, "CREATE DATABASE shop", "CREATE TABLE shop.item (id INT PRIMARY KEY AUTO_INCREMENT, a INT, KEY (a))", "CREATE USER 'few'@'127.0.0.1'")
		if s.Kind == sandbox.KindMariaDB {
			sandboxtest.Exec(t, root, "CREATE USER 'few'@'localhost'")
		}
		db := openAs(t, s, "few")
		in := read(t, db, ReadOptions{})
		r := check1(t, in)
		grants := map[string]bool{}
		for _, u := range r.Unseen {
			if strings.HasPrefix(u.Grant, "GRANT ") {
				grants[u.Grant] = true
			}
		}
		for _, right := range []string{"SELECT ON *.*", "PROCESS ON *.*", "SELECT ON mysql.*"} {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(grants)), func(g string) bool { return strings.Contains(g, right) }) {
				t.Errorf("no grant of %s in %v", right, grants)
			}
		}
		for g := range grants {
			sandboxtest.Exec(t, root, g)
		}
		db = openAs(t, s, "few")
		for _, u := range Examine(read(t, db, ReadOptions{})).Unseen {
			if strings.HasPrefix(u.Grant, "GRANT ") {
				t.Errorf("still unseen: %+v", u)
			}
		}
	})
}

func openAs(t *testing.T, s *sandbox.Server, user string) *sql.DB {
	t.Helper()
	db, err := mysqlflags.OpenDSN(s.DSN(user, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestCost: at most ten queries, also with many tables; -v prints how long they take.
func TestCost(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE many")
		for i := range 100 {
			sandboxtest.Exec(t, db, fmt.Sprintf("CREATE TABLE many.t%d (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b INT, KEY (a), KEY (a, b))", i))
		}
		questions := func() (n float64) {
			var name string
			if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		began := questions()
		best := time.Hour
		for range 3 {
			at := time.Now()
			in := read(t, db, ReadOptions{})
			Examine(in)
			best = min(best, time.Since(at))
			if n := len(in.Schema.Tables); n != 100 || len(in.Schema.Indexes) != 300 || in.Schema.Tables[0].AutoType == "" {
				t.Errorf("%d tables, %d indexes, %q", n, len(in.Schema.Indexes), in.Schema.Tables[0].AutoType)
			}
		}
		if n := (questions() - began - 1) / 3; n > 10 {
			t.Errorf("%v queries", n)
		}
		t.Logf("%v", best)
	})
}

// TestWindow: commits that wait for the disk are seen over a load, and with what is
// proposed they do not wait.
func TestWindow(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.item (id INT PRIMARY KEY AUTO_INCREMENT, a INT)")
		over := func() Input {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				for ctx.Err() == nil {
					if _, err := db.ExecContext(ctx, "INSERT INTO shop.item (a) VALUES (1)"); err != nil && ctx.Err() == nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
			in := read(t, db, ReadOptions{For: 2 * time.Second})
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return in
		}
		in := over()
		if in.Window < 2*time.Second || !in.Load || in.Grown["Com_insert"] < few {
			t.Fatalf("window %v, %v inserts", in.Window, in.Grown["Com_insert"])
		}
		r := check1(t, in)
		got := changes(of(r.Advice, "DBC-01"))
		if got["innodb_flush_log_at_trx_commit"] != "2" {
			t.Errorf("DBC-01 proposes %v; %+v", got, r.Quiet)
		}
		var calm []kasoku.Advice
		for _, a := range of(r.Advice, "DBC-01") {
			if a.Risk != kasoku.RiskDurability {
				t.Errorf("%s has the risk %s", a.Variable, a.Risk)
			}
			if a.SetGlobal != "" {
				calm = append(calm, a)
			}
		}
		if len(Statements(r.Advice, kasoku.RiskRestart)) > 0 && strings.Contains(strings.Join(Statements(r.Advice, kasoku.RiskRestart), " "), "flush_log") {
			t.Error("durability is given up without being asked")
		}
		sandboxtest.Exec(t, db, Statements(calm, kasoku.RiskDurability)...)
		after := over()
		if n := changes(of(Examine(after).Advice, "DBC-01")); n["innodb_flush_log_at_trx_commit"] != "" {
			t.Errorf("afterwards DBC-01 still proposes %v", n)
		}
	})
}

// TestHere: the server's own process is found, and with it the memory it may take.
func TestHere(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		in := read(t, db, ReadOptions{})
		h := findHost("", in.Variables, map[string]string{"Uptime": fmt.Sprint(in.Status["Uptime"])})
		if h.pid != s.Pid() || in.Memory.RAM == 0 || in.System.Cores == 0 {
			t.Errorf("found pid %d, want %d; %+v %+v", h.pid, s.Pid(), in.Memory, in.System)
		}
		in.Variables["hostname"] = "elsewhere"
		if h := findHost("", in.Variables, map[string]string{"Uptime": "1"}); h.pid != 0 {
			t.Errorf("a server of another host is taken for pid %d", h.pid)
		}
	})
}

// TestNameResolve: with skip_name_resolve an account of localhost does not let in a client that
// comes from 127.0.0.1; so it is not proposed where there is one.
func TestNameResolve(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{sandbox.KindMariaDB, sandbox.KindMySQL97} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, skip := range []string{"OFF", "ON"} {
				s := start(t, kind, sandbox.Options{Vars: map[string]string{"skip_name_resolve": skip}})
				db := sandboxtest.DB(t, s, "")
				sandboxtest.Exec(t, db, "CREATE USER app@localhost IDENTIFIED BY 'x-Y-3'")
				if err := logIn(t, s); (err != nil) != (skip == "ON") {
					t.Errorf("skip_name_resolve %s: app by TCP: %v", skip, err)
				}
				if skip == "OFF" {
					in := read(t, db, ReadOptions{RAM: memory})
					in.Variables["bind_address"] = "*" // a server of a test listens at 127.0.0.1
					for _, a := range of(check1(t, in).Advice, "MYS-10") {
						if a.ConfLine != "" || !strings.Contains(a.Note, "app@localhost") {
							t.Errorf("%+v", a)
						}
					}
					continue
				}
				sandboxtest.Exec(t, db, "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'x-Y-3'")
				if err := logIn(t, s); err != nil {
					t.Errorf("app@127.0.0.1: %v", err)
				}
			}
		})
	}
}

// logIn connects as the user app by TCP.
func logIn(t *testing.T, s *sandbox.Server) error {
	t.Helper()
	db, err := mysqlflags.OpenDSN(fmt.Sprintf("app:x-Y-3@tcp(127.0.0.1:%d)/", s.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return db.PingContext(t.Context())
}
