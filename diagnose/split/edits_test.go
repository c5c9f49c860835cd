package split

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const nginxConf = `events {}
http {
    upstream shop { # of this host
        server 127.0.0.1:1808 max_fails=3;
        keepalive 16;
    }
    upstream other { server 127.0.0.1:18080; }
    server {
        listen 8080;
        location / { proxy_pass http://shop; }
        location /old { proxy_pass http://127.0.0.1:1808/old; }
    }
}
`

const unitFile = `[Service]
ExecStart=/srv/shop
Environment=MYSQL_HOST=127.0.0.1 
Environment=MYSQL_PASS=` + kasoku.MaskedSecret + `
Environment="DATABASE_DSN=shop:` + kasoku.MaskedSecret + `@tcp(127.0.0.1:3306)/shop"
Environment=SENTRY_URL=http://localhost:9000
`

// edited is a run with what edits are made from.
func edited() *kasoku.Recording {
	rec := full().Recording()
	s := rec.Service
	s.Members[1].Unit = "shop.service"
	s.Members[1].Listeners = []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:1808"}}
	s.Members[2].Listeners = []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:3306"}}
	s.Members[2].Configs = []string{"/etc/mysql/my.cnf", "/etc/mysql/mariadb.conf.d/50-server.cnf"}
	s.Edges[1].At = s.Members[1].Listeners[0]
	rec.Settings = []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "10.11.6-MariaDB-1"}}
	rec.Configs = []kasoku.Config{
		{Host: "web", Kind: "nginx", Name: "/etc/nginx/nginx.conf", Text: nginxConf},
		{Host: "web", Kind: "unit", Name: "/etc/systemd/system/shop.service", Text: unitFile},
	}
	rec.Queries = []kasoku.Query{{Verb: "SELECT", Schema: "shop", Calls: 9}, {Verb: "INSERT", Schema: "shop", Calls: 3},
		{Verb: "REPLACE", Schema: "shop"}, {Verb: "SELECT", Schema: "a`b`; DROP", Calls: 99}}
	return rec
}

func editsOf(t *testing.T, rec *kasoku.Recording, layout ...string) Steps {
	t.Helper()
	s, err := Measure(diagnose.NewCase(rec, nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, s, "app2", "db")
	l, err := p.LayoutOf(layout)
	if err != nil {
		t.Fatal(err)
	}
	return p.Edits(rec, l, map[string]netip.Addr{"web": netip.MustParseAddr("10.0.0.2"),
		"app2": netip.MustParseAddr("10.0.0.3"),
		"db":   netip.MustParseAddr("127.0.0.2")})
}

func find(t *testing.T, s Steps, host, title string) Edit {
	t.Helper()
	i := slices.IndexFunc(s.Edits, func(e Edit) bool { return e.Host == host && strings.Contains(e.Title, title) })
	if i < 0 {
		t.Fatalf("no edit %q on %s: %+v", title, host, s.Edits)
	}
	return s.Edits[i]
}

// TestEdits_Database: what a database on another host takes, in its order, each with a way back, and no secret.
func TestEdits_Database(t *testing.T) {
	s := editsOf(t, edited(), "mariadbd=db")
	var titles []string
	for _, e := range s.Edits {
		titles = append(titles, e.Host+": "+e.Title)
		if e.Back == "" || e.Text == "" || e.File == "" == (e.Where == "") {
			t.Errorf("%+v", e)
		}
		if strings.Contains(e.Text+e.Note, kasoku.MaskedSecret) {
			t.Errorf("a secret's place is printed: %+v", e)
		}
	}
	want := []string{"db: the database listens at the private address", "db: mariadbd on db",
		"db: the application is let in from its hosts alone", "web: shop finds mariadbd at 127.0.0.2"}
	if !slices.Equal(titles, want) {
		t.Errorf("%q, want %q", titles, want)
	}
	bind := find(t, s, "db", "listens")
	if bind.File != "/etc/mysql/mariadb.conf.d/zz-kasoku-split.cnf" || !strings.Contains(bind.Text,
		"\nbind-address = 127.0.0.1,127.0.0.2\n") ||
		strings.Contains(bind.Text, "0.0.0.0") {
		t.Errorf("%+v", bind)
	}
	grant := find(t, s, "db", "let in")
	if !strings.Contains(grant.Text, "GRANT SELECT, INSERT, DELETE ON `shop`.* TO 'APP_USER'@'10.0.0.2';") ||
		strings.Contains(grant.Text, "'%'") ||
		!slices.Equal(grant.Fill, []string{"APP_USER", "APP_PASSWORD"}) {
		t.Errorf("%+v", grant)
	}
	env := find(t, s, "web", "finds")
	if env.File != "/etc/systemd/system/shop.service.d/kasoku-split.conf" ||
		env.Text != "# written by kasoku split\n[Service]\nEnvironment=\"MYSQL_HOST=127.0.0.2\"\n" ||
		!strings.Contains(env.Note, "DATABASE_DSN") {
		t.Errorf("%+v", env)
	}
	rec := edited()
	rec.Settings = []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "8.0.11"}, {Scope: "mysql",
		Name: "skip_networking", Value: "ON"}}
	old := find(t, editsOf(t, rec, "mariadbd=db"), "db", "listens")
	if !strings.Contains(old.Text, "bind-address = 127.0.0.2\nskip-networking = OFF\n") ||
		!strings.HasPrefix(old.Check, "mysqld ") {
		t.Errorf("a server of one address: %+v", old)
	}
}

// TestEdits_Application: copies of an application are upstreams, and the database lets each in.
func TestEdits_Application(t *testing.T) {
	s := editsOf(t, edited(), "shop=web+app2")
	grant := find(t, s, "web", "let in")
	if !strings.Contains(grant.Text, "@'10.0.0.3'") || strings.Contains(grant.Text, "@'10.0.0.2'") {
		t.Errorf("beside the database, and not: %s", grant.Text)
	}
	pass := find(t, s, "web", "passes requests on")
	if !pass.Patch || strings.Count(pass.Text, "\n+") != 1+1 || !strings.Contains(pass.Text,
		"+        server 10.0.0.3:1808 max_fails=3;") {
		t.Errorf("%s", pass.Text)
	}
	find(t, s, "app2", "listens at the private address")
	if find(t, s, "app2", "finds mariadbd at 10.0.0.2").File == "" {
		t.Error("its environment is known")
	}
	moved := find(t, editsOf(t, edited(), "shop=app2"), "web", "passes requests on")
	for _, line := range []string{"-        server 127.0.0.1:1808 max_fails=3;",
		"+        server 10.0.0.3:1808 max_fails=3;",
		"+        location /old { proxy_pass http://10.0.0.3:1808/old; }", "     upstream other { server " +
			"127.0.0.1:18080; }"} {
		if !strings.Contains(moved.Text, line) {
			t.Errorf("without %q:\n%s", line, moved.Text)
		}
	}
	if s := editsOf(t, edited(), "shop=app2"); len(s.Order) != 1 || !strings.Contains(s.Order[0],
		"disable --now shop.service") {
		t.Errorf("in the end: %q", s.Order)
	}
	rec := edited()
	rec.Configs = nil
	if x := find(t, editsOf(t, rec, "shop=app2"), "web", "passes requests on"); x.Patch || x.Where == "" {
		t.Errorf("where no configuration is known: %+v", x)
	}
}

// TestPassTo: servers are added in whatever form an upstream is written.
func TestPassTo(t *testing.T) {
	at := kasoku.Listener{Network: "tcp", Address: "127.0.0.1:9000"}
	two := []string{"10.0.0.2:9000", "10.0.0.3:9000"}
	f := func(text string, servers []string, want string) {
		t.Helper()
		if got, ok := passTo(text, at, servers); got != want && (ok || want != "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("upstream a { server localhost:9000 weight=2; keepalive 4; }\n", two,
		"upstream a { server 10.0.0.2:9000 weight=2; server 10.0.0.3:9000 weight=2; keepalive 4; }\n")
	f("upstream a {\n\tserver 127.0.0.1:9000; # here\n}\n", two,
		"upstream a {\n\tserver 10.0.0.2:9000; # here\n\tserver 10.0.0.3:9000; # here\n}\n")
	f("upstream a {\n server 127.0.0.1:9000\n weight=2; }\n", two, "")
	f("upstream a {\n server 127.0.0.1:9000\n weight=2; }\n", two[:1],
		"upstream a {\n server 10.0.0.2:9000\n weight=2; }\n")
	f("location / { proxy_pass http://127.0.0.1:9000; }\n", two, "") // an upstream is what it takes
	f("location / { proxy_pass http://127.0.0.1:90001; }\n", two[:1], "")
	f("location / { # 127.0.0.1:9000\n}\n", two[:1], "")
}

// TestEdits_Words: an address that is not known is a word to be filled in.
func TestEdits_Words(t *testing.T) {
	rec := edited()
	s, err := Measure(diagnose.NewCase(rec, nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, s, "db-1")
	l, err := p.LayoutOf([]string{"mariadbd=db-1"})
	if err != nil {
		t.Fatal(err)
	}
	if e := find(t, p.Edits(rec, l, nil), "db-1", "listens"); !slices.Equal(e.Fill, []string{"ADDRESS_OF_DB_1"}) {
		t.Errorf("%+v", e)
	}
}

// TestEdits_Stranger: what a run names may be a stranger's; no command and no line of it is in what is pasted.
func TestEdits_Stranger(t *testing.T) {
	const evil = "x\n$(touch /tmp/owned); rm -rf '/'"
	for _, layout := range []string{"2=db", "1=app2"} {
		rec := edited()
		for i := range rec.Service.Members {
			m := &rec.Service.Members[i]
			m.Program, m.Version, m.Unit, m.Configs = evil, evil, evil, []string{evil, "--help"}
		}
		for i := range rec.Service.Edges {
			rec.Service.Edges[i].At.Address = evil + ":3306"
		}
		for i := range rec.Configs {
			rec.Configs[i].Name = evil
		}
		rec.Queries[0].Schema = evil
		rec.Settings[0].Value = evil
		s, err := Measure(diagnose.NewCase(rec, nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		p := plan(t, s, "app2", "db")
		member, host, _ := strings.Cut(layout, "=")
		l, err := p.LayoutOf([]string{rec.Service.Members[int(member[0]-'0')].ID + "=" + host})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Edits(rec, l, nil).Edits {
			if all := e.Text + e.Check + e.Apply + e.Back + e.File; strings.Contains(all, "touch") ||
				strings.Contains(all, "--help ") &&
					!strings.Contains(all, "--help --verbose") {
				t.Errorf("%+v", e)
			}
		}
	}
}

// TestEdits_Nginx: nginx takes the patched file, and the way back gives the file of before.
func TestEdits_Nginx(t *testing.T) {
	if testing.Short() {
		t.Skip("runs nginx and patch")
	}
	for _, layout := range []string{"shop=app2", "shop=web+app2"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "nginx.conf")
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(nginxConf)
		x := find(t, editsOf(t, edited(), layout), "web", "passes requests on")
		run := func(stdin, name string, args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), name, args...)
			cmd.Stdin, cmd.Dir = strings.NewReader(stdin), dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s %v: %v: %s\n%s", name, args, err, out, stdin)
			}
		}
		run(x.Text, "git", "apply", "-p3", "-")
		after, err := os.ReadFile(file)
		if err != nil || string(after) == nginxConf {
			t.Fatalf("%v: %s", err, after)
		}
		nginx, err := exec.LookPath("nginx")
		if err != nil {
			nginx = "/usr/sbin/nginx"
		}
		// As an ordinary user may ask, who writes neither temporary files nor logs where the package has them.
		asked := strings.Replace(sandbox.WithNginxTemp(string(after), dir), "http {", "http { access_log off;", 1)
		if err := os.WriteFile(file, []byte(asked), 0o644); err != nil {
			t.Fatal(err)
		}
		run("", nginx, "-t", "-q", "-p", dir, "-c", file, "-e", filepath.Join(dir, "error.log"), "-g",
			"pid "+filepath.Join(dir, "pid")+";")
		if err := os.WriteFile(file, after, 0o644); err != nil {
			t.Fatal(err)
		}
		run(x.Text, "git", "apply", "-R", "-p3", "-")
		if back, err := os.ReadFile(file); err != nil || string(back) != nginxConf {
			t.Errorf("%v: not as before:\n%s", err, back)
		}
	}
}

// TestEdits_Server: a server takes the option file and listens there, and the account gets in and reads.
func TestEdits_Server(t *testing.T) {
	s := editsOf(t, edited(), "mariadbd=db")
	file := filepath.Join(t.TempDir(), "zz.cnf")
	if err := os.WriteFile(file, []byte(find(t, s, "db", "listens").Text), 0o644); err != nil {
		t.Fatal(err)
	}
	m := sandboxtest.MariaDB(t, sandbox.Options{})
	if out, err := exec.CommandContext(t.Context(), "/usr/sbin/mariadbd", "--defaults-file="+file, "--user=root",
		"--help", "--verbose").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "127.0.0.1,127.0.0.2") {
		t.Errorf("%v: no such address in %d bytes", err, len(out))
	}
	db := sandboxtest.DB(t, m, "")
	fill := strings.NewReplacer("APP_USER", "app", "APP_PASSWORD", "pw", "10.0.0.2", "127.0.0.1")
	lines := func(text string) (out []string) {
		for line := range strings.SplitSeq(fill.Replace(text), ";") {
			if strings.TrimSpace(line) != "" {
				out = append(out, line)
			}
		}
		return out
	}
	grant := find(t, s, "db", "let in")
	sandboxtest.Exec(t, db, append([]string{"CREATE DATABASE shop", "CREATE TABLE shop.a (id INT)"},
		lines(grant.Text)...)...)
	f := func(want bool, statement string) {
		t.Helper()
		app, err := mysqlflags.OpenDSN(strings.Replace(m.DSN("app", "shop"), "app@", "app:pw@", 1))
		if err == nil {
			_, err = app.ExecContext(t.Context(), statement)
			_ = app.Close()
		}
		if (err == nil) != want {
			t.Errorf("%s: %v", statement, err)
		}
	}
	f(true, "SELECT * FROM a")
	f(true, "INSERT INTO a VALUES (1)")
	f(false, "DROP TABLE a")
	f(false, "SELECT * FROM mysql.user")
	sandboxtest.Exec(t, db, lines(grant.Back)...)
	f(false, "SELECT * FROM a")
}

// FuzzPassTo: whatever a run has as a configuration, no line of it is lost, and the server is in what is edited.
func FuzzPassTo(f *testing.F) {
	f.Add(nginxConf, "127.0.0.1:1808")
	f.Add("upstream a { server unix:/run/a.sock; }", "/run/a.sock")
	f.Add("location / { fastcgi_pass localhost:9000; }\n", "[::1]:9000")
	f.Add("upstream a {\n server 127.0.0.1:80\n; }", "0.0.0.0:80")
	f.Fuzz(func(t *testing.T, text, address string) {
		at := kasoku.Listener{Network: "tcp", Address: address}
		if strings.HasPrefix(address, "/") {
			at.Network = "unix"
		}
		for _, servers := range [][]string{{"10.0.0.3:1"}, {"10.0.0.3:1", "10.0.0.4:1"}} {
			out, ok := passTo(text, at, servers)
			if !ok {
				continue
			}
			before, after := strings.Split(text, "\n"), strings.Split(out, "\n")
			if len(after) < len(before) || !strings.Contains(out, "10.0.0.3:1") {
				t.Errorf("%q became %q", text, out)
			}
		}
	})
}

// TestEdits_Names: a path is no unit, for systemctl links what a path names; a shell expands no schema, and no schema
// of the server is an application's; a file is where it says.
func TestEdits_Names(t *testing.T) {
	for name, want := range map[string]string{"shop.service": "shop.service", "shop@1": "shop@1", "": "",
		"/tmp/evil.service": "UNIT_IN_THE_RUN", "../evil.service": "UNIT_IN_THE_RUN", "-H": "UNIT_IN_THE_RUN"} {
		if got := safeUnit(name); got != want {
			t.Errorf("unit %q: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"shop": true, "my_app": true, "$SECRET": false, "mysql": false, "SYS": false, "a`b": false} {
		if isOwnSchema(name) != want {
			t.Errorf("schema %q: %v", name, !want)
		}
	}
	for name, want := range map[string]bool{"/etc/nginx/nginx.conf": true, "/etc/systemd/system/../../x": false, "/a b": false} {
		if isSafePath(name) != want {
			t.Errorf("file %q: %v", name, !want)
		}
	}
}
