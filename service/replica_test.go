package service_test

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/service"
	"github.com/kasoku/kasoku/service/servicetest"
)

func TestReplica(t *testing.T) {
	opts := service.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1"}}
	servicetest.Each(t, opts, func(t *testing.T, s *service.Server) {
		source := servicetest.DB(t, s, "")
		servicetest.Exec(t, source, "CREATE DATABASE before_it", "CREATE TABLE before_it.t (id INT PRIMARY KEY)", "INSERT INTO before_it.t VALUES (1)")
		r := servicetest.Replica(t, s, service.Options{})
		if r.Port == s.Port || r.Dir == s.Dir || r.Kind != s.Kind {
			t.Fatalf("%+v", r)
		}
		replica := servicetest.DB(t, r, "")
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
		servicetest.Exec(t, source, "INSERT INTO before_it.t VALUES (2)")
		servicetest.Until(t, "the row", func() bool { return count() == 2 })
	})
}

func TestReplica_NoLog(t *testing.T) {
	s := servicetest.MariaDB(t, servicetest.Unsafe())
	_, err := s.Replica(t.Context(), service.Options{})
	if err == nil || !strings.Contains(err.Error(), "replica of mariadb") || !strings.Contains(hint(err), "log_bin") {
		t.Errorf("%v, hint %q", err, hint(err))
	}
}
