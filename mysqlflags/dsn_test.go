package mysqlflags

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"pgregory.net/rapid"
)

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func ptr[T any](v T) *T { return &v }

func TestHint_Port(t *testing.T) {
	db, err := OpenDSN("root@tcp(localhost:port)/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); !strings.HasPrefix(hintOf(err), "a port is a number") {
		t.Errorf("%v, hint %q", err, hintOf(err))
	}
}

func TestDSN_Precedence(t *testing.T) {
	f := func(d Defaults, o MyOpts, want string) {
		t.Helper()
		got, err := d.DSN(o, 0)
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	f(Defaults{}, MyOpts{}, "root@tcp(localhost:3306)/")
	f(Defaults{User: "u", Host: "h", Port: "1"}, MyOpts{}, "u@tcp(h:1)/")
	f(Defaults{User: "u", Host: "h", Port: "1"}, MyOpts{MySQLUser: "v", MySQLPort: "2", MySQLDBName: "d"}, "v@tcp(h:2)/d")
	f(Defaults{Host: "h"}, MyOpts{MySQLHost: "::1"}, "root@tcp([::1]:3306)/")
	f(Defaults{Host: "h"}, MyOpts{MySQLHost: "[fe80::1%eth0]"}, "root@tcp([fe80::1%eth0]:3306)/")
	f(Defaults{}, MyOpts{MySQLHost: "[::1]", MySQLSSLVerify: true}, "root@tcp([::1]:3306)/?tls=true")
	f(Defaults{Password: ptr("p")}, MyOpts{}, "root:p@tcp(localhost:3306)/")
	f(Defaults{Password: ptr("p")}, MyOpts{MySQLPass: ptr("")}, "root@tcp(localhost:3306)/")
	f(Defaults{Password: ptr("p")}, MyOpts{MySQLPass: ptr("a:@/(?")}, "root:a:@/(?@tcp(localhost:3306)/")
	f(Defaults{Socket: "/s", Host: "h", Port: "1"}, MyOpts{}, "root@unix(/s)/")
	f(Defaults{Socket: "/s"}, MyOpts{MySQLHost: "localhost"}, "root@unix(/s)/")
	f(Defaults{Socket: "/s"}, MyOpts{MySQLHost: "h"}, "root@tcp(h:3306)/")
	f(Defaults{Socket: "/s"}, MyOpts{MySQLPort: "2"}, "root@tcp(localhost:2)/")
	f(Defaults{Socket: "/s"}, MyOpts{MySQLHost: "h", MySQLSocket: "/t"}, "root@unix(/t)/")
	f(Defaults{}, MyOpts{MySQLDBName: "a b/ä"}, "root@tcp(localhost:3306)/a%20b%2F%C3%A4")
	f(Defaults{}, MyOpts{MySQLDSNParams: map[string]string{"loc": "Asia/Tokyo", "charset": "utf8mb4", "time_zone": "'+00:00'"}},
		"root@tcp(localhost:3306)/?charset=utf8mb4&loc=Asia%2FTokyo&time_zone=%27%2B00%3A00%27")
	f(Defaults{}, MyOpts{MySQLDSNParams: map[string]string{"charset": "utf8mb4,utf8", "x": "a,b"}}, "root@tcp(localhost:3306)/?charset=utf8mb4,utf8&x=a%2Cb")
	f(Defaults{}, MyOpts{MySQLDSNParams: map[string]string{"charset": "utf8mb4,utf8"}, MySQLPass: ptr("/?charset=a,b")}, "root:/?charset=a,b@tcp(localhost:3306)/?charset=utf8mb4,utf8")
}

func TestDSN_Timeout(t *testing.T) {
	f := func(timeout time.Duration, params map[string]string, want string) {
		t.Helper()
		got, err := Defaults{}.DSN(MyOpts{MySQLDSNParams: params}, timeout)
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	f(0, nil, "root@tcp(localhost:3306)/")
	f(2*time.Second, nil, "root@tcp(localhost:3306)/?timeout=2s")
	f(2*time.Second, map[string]string{"timeout": "3s"}, "root@tcp(localhost:3306)/?timeout=3s")
}

func TestDSN_Failure(t *testing.T) {
	f := func(o MyOpts) {
		t.Helper()
		if got, err := (Defaults{}).DSN(o, 0); err == nil {
			t.Errorf("got %q", got)
		} else if strings.Contains(err.Error(), "geheim") {
			t.Errorf("the error holds the password: %v", err)
		}
	}
	f(MyOpts{MySQLUser: "a:b", MySQLPass: ptr("geheim")})
	f(MyOpts{MySQLDSNParams: map[string]string{"parseTime": "maybe"}, MySQLPass: ptr("geheim")})
}

func TestCreateDSN(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	// This file is read after those of /etc, so it hides what this machine has.
	writeFile(t, filepath.Join(home, ".my.cnf"), "[client]\nuser=homer\npassword=donut\nhost=springfield\nport=742\n")
	extra := writeFile(t, filepath.Join(home, "extra.cnf"), "[client]\nuser=extra\n[mysqld]\nuser=no\n")
	f := func(o MyOpts, want string) {
		t.Helper()
		got, err := CreateDSN(o, time.Second, false)
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	f(MyOpts{}, "homer:donut@tcp(springfield:742)/?timeout=1s")
	f(MyOpts{MySQLDefaultsExtraFile: extra}, "extra:donut@tcp(springfield:742)/?timeout=1s")
	f(MyOpts{MySQLDefaultsExtraFile: extra, MySQLUser: "flag"}, "flag:donut@tcp(springfield:742)/?timeout=1s")
	_, err := CreateDSN(MyOpts{MySQLDefaultsExtraFile: filepath.Join(home, "none")}, 0, false)
	if !errors.Is(err, os.ErrNotExist) || hintOf(err) == "" {
		t.Errorf("missing extra file: %v", err)
	}
	db, err := OpenDB(MyOpts{MySQLPort: "1"}, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
}

// misplacedDSNs lack the @ or the last slash, so that the driver takes the password
// for something else.
var misplacedDSNs = []string{
	"", "root:geheim/isuumo", "root:geheim(h:1)/db", "root:geheim@h:1/db", "root:x/geheim%zz@tcp(h:1)", "root:x/geheim@tcp(h:1)",
	"root:x@/geheim@tcp(h:1)", "root:x/y?parseTime=geheim@tcp(h:1)", "root:x@geheim/y@tcp(h:1)",
}

func TestRedact(t *testing.T) {
	f := func(dsn, want string) {
		t.Helper()
		if got := Redact(dsn); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("u:geheim@tcp(h:1)/d?timeout=1s", "u:xxxx@tcp(h:1)/d?timeout=1s")
	f("u@tcp(h:1)/d", "u@tcp(h:1)/d")
	f("u:geheim@tcp(h:1", "(unreadable DSN)")
	f("mysql://u:geheim@h:1/d", "(unreadable DSN)")
	for _, dsn := range misplacedDSNs {
		f(dsn, "(unreadable DSN)")
	}
}

func TestWithParam(t *testing.T) {
	f := func(dsn, want string) {
		t.Helper()
		if got := WithParam(dsn, "a=1"); got != want {
			t.Errorf("%s: %s, want %s", dsn, got, want)
		}
	}
	f("u:p@tcp(h:1)/d", "u:p@tcp(h:1)/d?a=1")
	f("u:p?@unix(/run/s.sock)/?b=2", "u:p?@unix(/run/s.sock)/?b=2&a=1")
}

func TestOpenDSN_Failure(t *testing.T) {
	dsns := append(slices.Clone(misplacedDSNs), "u:geheim@tcp(h:1", "u:geheim@tcp(h:1)/d?parseTime=x", "mysql://u:geheim@h/d")
	for _, dsn := range dsns {
		_, err := OpenDSN(dsn)
		if err == nil || strings.Contains(err.Error(), "geheim") || !strings.Contains(hintOf(err), "@tcp(") {
			t.Errorf("%q: %v, hint %q", dsn, err, hintOf(err))
		}
	}
}

func TestFormatDSN_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user := rapid.StringMatching(`[a-zA-Z@/(_-]{1,10}`).Draw(t, "user")
		password := rapid.String().Draw(t, "password")
		db := rapid.String().Draw(t, "database")
		addr := rapid.SampledFrom([]string{"h:1", "[::1]:3306", "/run/mysqld/mysqld.sock"}).Draw(t, "address")
		value := rapid.String().Draw(t, "value")
		dsn, err := FormatDSN(user, password, addr, db, map[string]string{"x": value})
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatalf("%q: %v", dsn, err)
		}
		if cfg.User != user || cfg.Passwd != password || cfg.Addr != addr || cfg.DBName != db || cfg.Params["x"] != value {
			t.Fatalf("%q gives %+v", dsn, cfg)
		}
		if password != "" && Redact(dsn) != strings.Replace(dsn, user+":"+password+"@", user+":xxxx@", 1) {
			t.Fatalf("%q redacted: %q", dsn, Redact(dsn))
		}
	})
}

// TestStrict: a parameter at which the driver panics is an error.
func TestStrict(t *testing.T) {
	if _, err := OpenDSN("u@tcp(127.0.0.1:1)/db?timeout=1s&strict=true"); err == nil {
		t.Error("no error")
	}
}
