package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// keys are all lines, in the order of the plugin that this one replaces.
var keys = []string{
	"mysql-lite.replication-behind-master.second",
	"mysql-lite.replication-threads.io",
	"mysql-lite.replication-threads.sql",
	"mysql-lite.threads.running",
	"mysql-lite.threads.connected",
	"mysql-lite.threads.cached",
	"mysql-lite.threads.max-connections",
	"mysql-lite.threads.cache-size",
	"mysql-lite.connections.utilization",
}

func TestDefinitions(t *testing.T) {
	defs, _ := agenttest.New(t).Definitions(t, agenttest.Build(t))
	points := make([]agenttest.Point, len(keys))
	for i, key := range keys {
		points[i].Name = key
	}
	if missing := defs.Missing(points); len(missing) > 0 {
		t.Errorf("no graph for %q", missing)
	}
}

func TestNoServer(t *testing.T) { agenttest.NoServer(t, "--defaults-extra-file", agenttest.Build(t)) }

// TestServers asks a source and its replica, as the agent does.
func TestServers(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("needs servers; not in short mode")
	}
	bin := agenttest.Build(t)
	o := sandbox.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1", "max_connections": "200"}}
	sandboxtest.Each(t, o, func(t *testing.T, s *sandbox.Server) {
		agent := agenttest.New(t)
		points, r := agent.Values(t, bin, "-H", "127.0.0.1", "-p", fmt.Sprint(s.Port), "-u", "root")
		if got := agenttest.Names(points); !slices.Equal(got, keys) {
			t.Errorf("source: %q, %s", got, r.Stderr)
		}
		connected, _ := agenttest.Find(points, keys[4])
		for key, want := range map[string]float64{keys[0]: 0, keys[1]: 0, keys[2]: 0, keys[6]: 200, keys[8]: connected / 2} {
			if v, _ := agenttest.Find(points, key); v != want {
				t.Errorf("source: %s is %v, want %v", key, v, want)
			}
		}
		agenttest.Show(t, r, "mackerel-plugin-mysql-lite # "+s.Kind)
		testReplica(t, agent, bin, sandboxtest.Replica(t, s, sandbox.Options{}))
	})
}

// testReplica finds its server in an option file.
func testReplica(t *testing.T, agent *agenttest.Agent, bin string, replica *sandbox.Server) {
	file := filepath.Join(t.TempDir(), "my.cnf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "[client]\nhost=127.0.0.1\nport=%d\nuser=root\n", replica.Port), 0o600); err != nil {
		t.Fatal(err)
	}
	var points []agenttest.Point
	var r agenttest.Run
	sandboxtest.Until(t, "threads of the replica and a lag of 0", func() bool {
		points, r = agent.Values(t, bin, "--defaults-extra-file", file)
		lag, ok := agenttest.Find(points, keys[0])
		io, _ := agenttest.Find(points, keys[1])
		applier, _ := agenttest.Find(points, keys[2])
		return ok && lag == 0 && io == 1 && applier == 1
	})
	agenttest.Show(t, r, "mackerel-plugin-mysql-lite # replica, "+replica.Kind)

	// A user who may not see replication gets a warning, and gets the rest: no zeros.
	sandboxtest.Exec(t, sandboxtest.DB(t, replica, ""), "CREATE USER few@'%' IDENTIFIED BY 'secret'")
	points, r = agent.Values(t, bin, "--defaults-extra-file", file, "-u", "few", "-P", "secret")
	if got := agenttest.Names(points); !slices.Equal(got, keys[3:]) || r.ExitCode != 0 || !strings.Contains(r.Stderr, ": hint: ") || !strings.Contains(r.Stderr, "GRANT REPLICATION CLIENT ON") {
		t.Errorf("few rights: %q, exit %d, %s", got, r.ExitCode, r.Stderr)
	}

	stop := "STOP REPLICA SQL_THREAD"
	if replica.Kind == sandbox.KindMariaDB {
		stop = "STOP SLAVE SQL_THREAD"
	}
	sandboxtest.Exec(t, sandboxtest.DB(t, replica, ""), stop)
	points, r = agent.Values(t, bin, "--defaults-extra-file="+file)
	if got := agenttest.Names(points); !slices.Equal(got, keys[1:]) {
		t.Errorf("stopped: %q, %s", got, r.Stderr)
	}
	io, _ := agenttest.Find(points, keys[1])
	applier, _ := agenttest.Find(points, keys[2])
	if io != 1 || applier != 0 {
		t.Errorf("stopped: io %v, sql %v", io, applier)
	}
	agenttest.Show(t, r, "mackerel-plugin-mysql-lite # replica whose SQL thread is stopped, "+replica.Kind)
}
