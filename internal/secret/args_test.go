package secret

import (
	"slices"
	"strings"
	"testing"
)

func TestSafeArgs(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		args := strings.Split(in, "|")
		keep := slices.Clone(args)
		if got := strings.Join(MaskArgs(args), "|"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		if !slices.Equal(args, keep) {
			t.Errorf("%q became %q", keep, args)
		}
	}
	f("ab|-n|100|-c|5|http://127.0.0.1/", "ab|-n|100|-c|5|http://127.0.0.1/")
	f("mysql|-uroot|-phunter2|shop", "mysql|-uroot|-p***|shop")
	f("/usr/bin/mariadb-slap|-p|--host=x", "/usr/bin/mariadb-slap|-p|--host=x")
	f("ssh|-p2222|host", "ssh|-p2222|host")
	f("sysbench|--mysql-password=hunter 2|run", "sysbench|--mysql-password=***|run")
	f("x|--password|hunter2|--verbose", "x|--password|***|--verbose")
	f("x|--password|--verbose", "x|--password|--verbose")
	f("x|--my-secret|hunter2", "x|--my-secret|***")
	f("curl|-u|me:hunter2|https://x", "curl|-u|me:***|https://x")
	f("curl|https://me:hunter2@x/?token=abc", "curl|https://me:***@x/?token=***")
	f("ab|-C|sid=abc|-A|me:hunter2|-H|Cookie: a=b; c=d|http://x/", "ab|-C|***|-A|me:***|-H|Cookie: ***|http://x/")
	f("wrk|-H|Authorization: Bearer abc.def|http://x", "wrk|-H|Authorization: ***|http://x")
	f("env|MYSQL_PWD=hun ter|DB_PASSWORD=x|bench", "env|MYSQL_PWD=***|DB_PASSWORD=***|bench")
	f("bench|app:hunter2@tcp(127.0.0.1:3306)/shop", "bench|app:***@tcp(127.0.0.1:3306)/shop")
	f("sh|-c|mysql -u root -phunter2 < x.sql && ab http://me:hunter2@x/", "sh|-c|mysql -u root -p*** < x.sql && ab http://me:***@x/")
	f("sh|-c|MYSQL_PWD=hunter2 ./bench  --password 'hun ter' -n 5", "sh|-c|MYSQL_PWD=*** ./bench  --password '***' -n 5")
	f(`sh|-c|curl -H "Cookie: a=b; c=d" http://x`, `sh|-c|curl -H "Cookie: ***" http://x`)
}

func TestSafeSetting(t *testing.T) {
	f := func(name, value, want string) {
		t.Helper()
		if got := MaskSetting(name, value); got != want {
			t.Errorf("%s=%s is kept as %q, want %q", name, value, got, want)
		}
	}
	f("max_connections", "151", "151")
	f("db.password", "hunter 2", "***")
	f("disconnect_on_expired_password", "ON", "ON")
	f("validate_password.length", "8", "8")
	f("dsn", "app:hunter2@tcp(x)/y", "app:***@tcp(x)/y")
	f("init_connect", "SET x = 'a b'", "SET x = 'a b'")
	f("password=x y", "z", "***")
}

func FuzzSafeCommandLine(f *testing.F) {
	for _, s := range []string{"", "ab -n 1", "x --password 'a b' c", "mysql -psecret", `"`, "a  b\tc\n", "\xff -u a:b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got := MaskCommandLine(line)
		if len(got) > 4*len(line)+8 {
			t.Fatalf("%q became %q", line, got)
		}
		const secret = "hunterTwo"
		if got := MaskCommandLine("x --password " + secret + " " + line); strings.Contains(got, secret) && !strings.Contains(line, secret) {
			t.Fatalf("%q kept the secret: %q", line, got)
		}
	})
}
