package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestDefinitions holds all graphs, with their keys, units and labels.
func TestDefinitions(t *testing.T) {
	agent := agenttest.New(t)
	bin := agenttest.Build(t)
	defs, _ := agent.Definitions(t, bin, "-enable_extended")
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(defs)) {
		fmt.Fprintf(&b, "%s [%s] %s\n", key, defs[key].Unit, defs[key].Label)
		for _, m := range defs[key].Metrics {
			fmt.Fprintf(&b, "  %s [%v] %s\n", m.Name, m.Stacked, m.Label)
		}
	}
	golden.CheckString(t, "testdata/definitions.golden", b.String())

	defs, _ = agent.Definitions(t, bin, "-disable_innodb", "--metric-key-prefix", "db.mysql2")
	if g, ok := defs["db.mysql2.cmd"]; !ok || g.Label != "Db.MySQL2 Command" || len(defs) != 8 {
		t.Errorf("%d graphs, %+v", len(defs), g)
	}
}

// TestNoServer: what was left out of the option file is reported too.
func TestNoServer(t *testing.T) { agenttest.NoServer(t, "-defaults-extra-file", agenttest.Build(t)) }

// logged are the settings of a source that may have replicas.
func logged() sandbox.Options {
	return sandbox.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1", "innodb_flush_log_at_trx_commit": "0", "sync_binlog": "0"}}
}

// TestServers runs the plugin as the agent does on a source and its replica.
func TestServers(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("needs servers; not in short mode")
	}
	bin := agenttest.Build(t)
	sandboxtest.Each(t, logged(), func(t *testing.T, s *sandbox.Server) {
		replica := sandboxtest.Replica(t, s, sandbox.Options{})
		testSource(t, bin, s)
		testReplica(t, bin, replica)
	})
}

func testSource(t *testing.T, bin string, s *sandbox.Server) {
	agent := agenttest.New(t)
	args := []string{bin, "-host", "127.0.0.1", "-port", fmt.Sprint(s.Port), "-username=root", "-enable_extended"}
	defs, _ := agent.Definitions(t, args...)
	points, r := agent.Values(t, args...)
	if r.ExitCode != 0 {
		t.Fatalf("exit %d, %s", r.ExitCode, r.Stderr)
	}
	for _, want := range []string{"mysql.threads.Threads_connected", "mysql.capacity.PercentageOfBufferPool", "mysql.innodb_checkpoint_age.uncheckpointed_bytes",
		"mysql.innodb_transactions.history_list", "mysql.processlist.State_none", "mysql.innodb_transactions_active_locked.active_transactions"} {
		if _, ok := agenttest.Find(points, want); !ok {
			t.Errorf("no %s in %q", want, agenttest.Names(points))
		}
	}
	for _, p := range points {
		if strings.Contains(p.Name, "Com_select") || strings.Contains(p.Name, "Seconds_Behind") {
			t.Errorf("a counter on the first run, or a lag of a source: %s", p.Name)
		}
	}

	// Half a minute later by the state's clock, and what the machine takes.
	first := points[0].Time
	back(t, agent.WorkDir, 30)
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1),(2),(3)")
	points, r = agent.Values(t, args...)
	perMinute := 60 / (30 + float64(points[0].Time-first))
	if v, _ := agenttest.Find(points, "mysql.cmd.Com_insert"); math.Abs(v-perMinute) > 1e-5 {
		t.Errorf("one INSERT is %v a minute, want %v; %s", v, perMinute, r.Stderr)
	}
	// MariaDB counts the rows of InnoDB no more, but those of all engines.
	rows := map[string]string{sandbox.KindMariaDB: "mysql.handlers.Handler_write", sandbox.KindMySQL97: "mysql.innodb_rows.Innodb_rows_inserted"}[s.Kind]
	if v, _ := agenttest.Find(points, rows); math.Abs(v-3*perMinute) > 1e-5 {
		t.Errorf("%s: three rows are %v a minute, want %v", rows, v, 3*perMinute)
	}
	if missing := defs.Missing(points); len(missing) > 0 {
		t.Errorf("no graph for %q", missing)
	}
	agenttest.Show(t, r, "mackerel-plugin-mysql -host 127.0.0.1 -username=root -enable_extended # "+s.Kind)
}

// back dates the counters that the plugin has kept back.
func back(t *testing.T, dir string, seconds float64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "mackerel-plugin-mysql-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("state files %q, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]float64
	if err := json.Unmarshal(b, &state); err != nil {
		t.Fatal(err)
	}
	state["_lastTime"] -= seconds
	if b, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// testReplica asks for the lag, with rights and without.
func testReplica(t *testing.T, bin string, replica *sandbox.Server) {
	agent := agenttest.New(t)
	args := []string{bin, "-host", "127.0.0.1", "-port", fmt.Sprint(replica.Port)}
	const lag = "mysql.seconds_behind_master.Seconds_Behind_Master"
	sandboxtest.Until(t, "a lag of 0", func() bool {
		points, _ := agent.Values(t, append(args, "-tempfile", filepath.Join(t.TempDir(), "state"))...)
		v, ok := agenttest.Find(points, lag)
		return ok && v == 0
	})

	db := sandboxtest.DB(t, replica, "")
	stop := "STOP REPLICA"
	if replica.Kind == sandbox.KindMariaDB {
		stop = "STOP SLAVE"
	}
	sandboxtest.Exec(t, db, stop, "CREATE USER few@'%' IDENTIFIED BY 'secret'")
	points, r := agent.Values(t, append(args, "-tempfile", filepath.Join(t.TempDir(), "state"))...)
	if v, ok := agenttest.Find(points, lag); ok || r.ExitCode != 0 || len(points) < 20 {
		t.Errorf("stopped: lag %v, exit %d, %s", v, r.ExitCode, r.Stderr)
	}

	if replica.Kind == sandbox.KindMySQL97 { // which makes itself a certificate
		if points, r := agent.Values(t, append(args, "-tls", "-tls-skip-verify")...); len(points) < 20 {
			t.Errorf("TLS: exit %d, %s", r.ExitCode, r.Stderr)
		}
		if points, r := agent.Values(t, append(args, "-tls")...); len(points) > 0 || !strings.Contains(r.Stderr, "certificate") {
			t.Errorf("TLS, verified: exit %d, %s", r.ExitCode, r.Stderr)
		}
	}

	// A user without PROCESS gets what SHOW GLOBAL STATUS says, and a warning. It sees no
	// session but its own, which is no count.
	agent.Env = []string{"MYSQL_PASSWORD=secret"}
	for _, flag := range []string{"-disable_innodb=0", "-disable_innodb"} {
		points, r = agent.Values(t, append(args, "-username", "few", "-enable_extended", flag)...)
		_, innodb := agenttest.Find(points, "mysql.innodb_checkpoint_age.uncheckpointed_bytes")
		if innodb != (flag == "-disable_innodb=0") || r.ExitCode != 0 || !strings.Contains(r.Stderr, "sessions are not counted: ") ||
			!strings.Contains(r.Stderr, "GRANT PROCESS ON") || strings.Contains(r.Stderr, "CREATE USER") || !strings.Contains(r.Stderr, "GRANT REPLICATION CLIENT ON") {
			t.Errorf("few rights: exit %d, %d values, %s", r.ExitCode, len(points), r.Stderr)
		}
		if v, ok := agenttest.Find(points, "mysql.processlist.State_none"); ok {
			t.Errorf("few rights: %v sessions are in no state", v)
		}
	}
	agent.Env = []string{"MYSQL_PASSWORD=wrong-one"}
	points, r = agent.Values(t, append(args, "-username", "few")...)
	if len(points) != 0 || r.ExitCode != 1 || !strings.Contains(r.Stderr, "Access denied") || strings.Contains(r.Stdout+r.Stderr, "wrong-one") {
		t.Errorf("wrong password: exit %d, %s", r.ExitCode, r.Stderr)
	}
}
