package redis

import (
	"strings"
	"testing"
)

// TestTable: what a table lacks is said by key, and a text that may be the password is not
// repeated.
func TestTable(t *testing.T) {
	f := func(x Table, key, want string) {
		t.Helper()
		faults := x.Check()
		if want == "" {
			if len(faults) > 0 {
				t.Errorf("%+v: %+v", x, faults)
			}
			return
		}
		if len(faults) == 0 || faults[0].Key != key || !strings.Contains(faults[0].Text, want) || strings.Contains(faults[0].Text, "s3cret") {
			t.Errorf("%+v: %+v, want %s: %s", x, faults, key, want)
		}
	}
	f(Table{}, "", "")
	f(Table{At: "127.0.0.1:6379"}, "", "")
	f(Table{At: "/run/redis.sock", PasswordEnv: "REDIS_PASSWORD"}, "", "")
	f(Table{At: "rediss://cache/3", CACert: "/ca.crt"}, "", "")
	f(Table{User: "monitor"}, "", "does not say where")
	f(Table{At: "redis://a:s3cret@cache"}, "address", "does not belong into the URL")
	f(Table{At: "http://cache"}, "address", "want host:port")
	f(Table{At: "127.0.0.1:6379", SNI: "x"}, "", "are for TLS")
	f(Table{At: "rediss://cache", Cert: "/c.crt"}, "", "go together")
	f(Table{At: "127.0.0.1:6379", PasswordEnv: "s3cret!"}, "password_env", "name of an environment variable")

	t.Setenv("KASOKU_TEST_PASSWORD", "")
	x := Table{At: "127.0.0.1:6379", PasswordEnv: "KASOKU_TEST_PASSWORD"}
	if what, how := x.Missing(); !strings.Contains(what, "KASOKU_TEST_PASSWORD is not set") || how.Line == "" {
		t.Error(what, how)
	}
	t.Setenv("KASOKU_TEST_PASSWORD", "s3cret")
	s, err := x.Open()
	if what, _ := x.Missing(); what != "" || err != nil || s.(*Source).o.Password != "s3cret" {
		t.Error(what, err)
	}
}
