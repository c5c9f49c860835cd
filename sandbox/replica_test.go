package sandbox_test

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestReplica(t *testing.T) {
	turn.Wait(t)
	opts := sandbox.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1"}}
	sandboxtest.Each(t, opts, func(t *testing.T, s *sandbox.Server) {
		source := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, source, "CREATE DATABASE before_it", "CREATE TABLE before_it.t (id INT PRIMARY KEY)", "INSERT INTO before_it.t VALUES (1)")
		r := sandboxtest.Replica(t, s, sandbox.Options{})
		if r.Port == s.Port || r.Dir == s.Dir || r.Kind != s.Kind {
			t.Fatalf("%+v", r)
		}
		replica := sandboxtest.DB(t, r, "")
		count := func() (n int) {
			t.Helper()
			if err := replica.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM before_it.t").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count(); n != 1 {
			t.Fatalf("%d rows of before", n)
		}
		sandboxtest.Exec(t, source, "INSERT INTO before_it.t VALUES (2)")
		sandboxtest.Until(t, "the row", func() bool { return count() == 2 })
	})
}

func TestReplica_NoLog(t *testing.T) {
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	_, err := s.Replica(t.Context(), sandbox.Options{})
	if err == nil || !strings.Contains(err.Error(), "replica of mariadb") || !strings.Contains(hint(err), "log_bin") {
		t.Errorf("%v, hint %q", err, hint(err))
	}
}
