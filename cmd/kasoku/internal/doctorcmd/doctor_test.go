package doctorcmd

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/topology"
)

// newTestDoctor returns a doctor for a configuration, who has found nothing.
func newTestDoctor(t *testing.T, doc string) *doctor {
	t.Helper()
	e, _, _ := clitest.New()
	e.Name = "kasoku"
	d := &doctor{exam{&patient{ctx: t.Context(), e: e, found: &topology.Found{Host: "app1"}, who: topology.Me(), host: topology.CheckHost()}, &checklist{}}}
	path := filepath.Join(t.TempDir(), config.Name)
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	d.c, d.file = c, path
	return d
}

// named returns the check of a name, the last when there are several.
func (d *doctor) named(t *testing.T, name string) check {
	t.Helper()
	for _, c := range slices.Backward(d.checks) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %q in %+v", name, d.checks)
	return check{}
}

// want fails unless the check has the state and says the words.
func (d *doctor) want(t *testing.T, name string, state checkState, words ...string) check {
	t.Helper()
	c := d.named(t, name)
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	all.WriteString(c.Seen + "\n" + c.Lost + "\n" + c.Cost)
	for _, g := range c.Grants {
		all.WriteString("\n" + g.Line)
	}
	for _, w := range words {
		if c.State != state || !strings.Contains(all.String(), w) {
			t.Errorf("%s: want %s, %q\ngot %s", name, state, w, b)
		}
	}
	return c
}

// TestDoctor_Grants: what doctor prints for an account without rights is what it
// takes: granted, all is well.
func TestDoctor_Grants(t *testing.T) {
	t.Parallel()
	sandboxtest.Each(t, sandbox.Options{Vars: map[string]string{"performance_schema": "ON"}}, func(t *testing.T, s *sandbox.Server) {
		root := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, root, "CREATE DATABASE shop", "CREATE TABLE shop.users (id INT)", "CREATE USER 'o''dd'@'127.0.0.1'", "CREATE USER 'o''dd'@'localhost'")
		dsn, err := mysqlflags.FormatDSN("o'dd", "", s.Addr(), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		doc := "[mysql]\ndsn = " + initcmd.QuoteTOML(dsn) + "\nslow_log = true\ndigests = true\ncount_rows = ['shop.users']\n"
		d := newTestDoctor(t, doc)
		databaseExam{d.exam}.check()
		d.want(t, "connection", checkOK, "as o'dd@")
		d.want(t, "sessions", checkWarn, "GRANT PROCESS ON *.* TO 'o''dd'@'")
		d.want(t, "slow log", checkMissing, "ON *.* TO 'o''dd'@'")
		d.want(t, "performance_schema", checkMissing, "GRANT SELECT, UPDATE ON performance_schema.* TO")
		d.want(t, "count_rows", checkMissing, "GRANT SELECT ON shop.users TO")
		if d.cannot() != 3 {
			t.Errorf("cannot: %d", d.cannot())
		}
		for _, p := range d.places() {
			if p.where == inDatabase {
				sandboxtest.Exec(t, root, p.lines...)
			}
		}
		d = newTestDoctor(t, doc)
		databaseExam{d.exam}.check()
		for _, name := range []string{"connection", "sessions", "slow log", "slow log file", "performance_schema", "count_rows"} {
			d.want(t, name, checkOK, "")
		}
		if d.cannot() != 0 {
			t.Errorf("cannot: %+v", d.checks)
		}
	})
}

// awaitAlone waits until the server has ended all sessions but one.
func awaitAlone(t *testing.T, conn *sql.Conn) {
	t.Helper()
	for n, until := 0, time.Now().Add(20*time.Second); n != 1; time.Sleep(10 * time.Millisecond) {
		err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER <> 'system user'").Scan(&n)
		if err != nil || time.Now().After(until) {
			t.Fatalf("%d sessions, %v", n, err)
		}
	}
}

// TestDoctor_Pools: sessions that are open before a run keep what they began with.
func TestDoctor_Pools(t *testing.T) {
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	doc := "[mysql]\ndsn = " + initcmd.QuoteTOML(s.DSN("", "")) + "\n"
	d := newTestDoctor(t, doc)
	databaseExam{d.exam}.check()
	d.want(t, "open sessions", checkWarn, "1 open now")
	for language, want := range map[string]string{"go": "db.SetConnMaxLifetime(30 * time.Second)", "ruby": "systemctl restart shop.service"} {
		awaitAlone(t, conn)
		d := newTestDoctor(t, doc)
		d.application = &kasoku.Member{Language: language, Unit: "shop.service"}
		databaseExam{d.exam}.check()
		d.want(t, "open sessions", checkWarn, "1 open now", want)
	}
	d.want(t, "performance_schema", checkWarn, "off", "performance_schema = ON")
	if _, err := conn.ExecContext(t.Context(), "SET GLOBAL log_output = 'TABLE'"); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Exec(t, db, "CREATE USER plain@'127.0.0.1'", "CREATE USER plain@localhost")
	d = newTestDoctor(t, strings.Replace(doc, "root@", "plain@", 1))
	sandboxtest.Exec(t, db, "SET GLOBAL slow_query_log = ON")
	databaseExam{d.exam}.check()
	d.want(t, "slow log", checkWarn, "goes to log_output TABLE")
}

func TestDoctor_Unreached(t *testing.T) {
	one := newTestDoctor(t, "")
	one.file, one.found.Services = "", []topology.Service{{Kind: topology.MySQL, Name: "mariadbd", PID: 7}}
	databaseExam{one.exam}.unreached(errors.Join(errors.New("user and password from ~/.my.cnf: denied"), errors.New("without a password at /run/sock: denied")))
	if c := one.named(t, "connection"); !strings.Contains(c.Seen, "denied; without") || strings.Contains(c.Seen, "\n") {
		t.Errorf("two causes run together: %q", c.Seen)
	}

	d := newTestDoctor(t, "[mysql]\ndsn = 'app:secret@tcp(127.0.0.1:1)/x'\n")
	databaseExam{d.exam}.check()
	d.want(t, "password", checkWarn, "it stands in kasoku.toml", "defaults_file = '~/.my.cnf'")
	c := d.want(t, "connection", checkMissing, "127.0.0.1:1")
	if d.cannot() != 1 || strings.Contains(c.Seen, "secret") {
		t.Errorf("got %+v", c)
	}
	d = newTestDoctor(t, "[mysql]\ndefaults_file = 'gone.cnf'\n")
	databaseExam{d.exam}.check()
	d.want(t, "connection", checkMissing, "gone.cnf")
}

// TestDoctor_Nginx: a real nginx with the default format and level, then with the
// lines that doctor prints for it.
func TestDoctor_Nginx(t *testing.T) {
	const conf = "{user}\npid {dir}/nginx.pid;\nerror_log {dir}/error.log;\nevents {}\nhttp {\n" +
		"%FORMAT%\n%ACCESS%\nserver { listen 127.0.0.1:{port}; location / { return 200 'x'; } }\n}\n"
	examineNginx := func(format, access, errorLog string) *doctor {
		t.Helper()
		text := strings.NewReplacer("%FORMAT%", format, "%ACCESS%", access, "error_log {dir}/error.log;", errorLog).Replace(conf)
		s := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: text})
		res, err := http.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		d := newTestDoctor(t, "[logs]\naccess = "+initcmd.QuoteTOML(s.AccessLog)+"\nerror = "+initcmd.QuoteTOML(s.ErrorLog)+"\n")
		if d.found, err = topology.Look(t.Context(), topology.Options{}); err != nil {
			t.Fatal(err)
		}
		// The line of the request is written once it was answered.
		sandboxtest.Until(t, "an access log", func() bool {
			st, err := os.Stat(s.AccessLog)
			return err == nil && st.Size() > 0
		})
		logExam{d.exam}.check()
		return d
	}
	d := examineNginx("", "access_log {dir}/access.log;", "error_log {dir}/error.log;")
	access := d.want(t, "access log", checkWarn, "lacks $request_time", "log_format kasoku")
	level := d.want(t, "error log", checkWarn, "has level error", " warn;")

	dir := filepath.Dir(strings.TrimSuffix(strings.Fields(access.Grants[1].Line)[1], ";"))
	here := func(line string) string { return strings.ReplaceAll(line, dir, "{dir}") }
	d = examineNginx(access.Grants[0].Line, here(access.Grants[1].Line), here(level.Grants[0].Line))
	d.want(t, "access log", checkOK, "ltsv")
	d.want(t, "error log", checkOK, "error.log")
}

func TestDoctor_Load(t *testing.T) {
	f := func(doc, name string, state checkState, words ...string) {
		t.Helper()
		d := newTestDoctor(t, doc)
		loadExam{d.exam}.check()
		d.want(t, name, state, words...)
	}
	f("", "load", checkMissing, "the file says no load")
	f("[load]\ncommand = ['/no/such/bench']", "load", checkMissing, "cannot be run")
	f("[load]\ncommand = 'true; false'", "load", checkOK, "command true; false")
	f("[load]\nfor = '90s'", "load", checkOK, "records for 1 min 30 s")
	f("[load]\nuntil_idle = '5s'", "traffic", checkMissing, "the file names none")
	f("[load]\ntargets = ['GET http://127.0.0.1:1/']\nsteps = [1, 2.5]", "load", checkWarn, "no one answers at 127.0.0.1:1")
	f("[load]\ntargets_file = 'gone'\nsteps = [1]", "load", checkMissing, "there is no such file")
	f("", "run files", checkOK, "free in")
	f("runs = '/dev/null/runs'", "run files", checkMissing, "cannot be written to")
}

func TestDoctor_Logs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f := func(text string, state checkState, words ...string) {
		t.Helper()
		d := newTestDoctor(t, "[logs]\naccess = "+initcmd.QuoteTOML(write("access.log", text))+"\napp = "+initcmd.QuoteTOML(filepath.Join(dir, "later.log")))
		logExam{d.exam}.check()
		d.want(t, "access log", state, words...)
		d.want(t, "app log", checkWarn, "is not there yet")
		d.want(t, "error log", checkWarn, "none is named or found")
	}
	few := "time:2026-11-20T14:02:11+09:00\tmethod:GET\turi:/\tstatus:200\tsize:1\treqtime:0.001\n"
	ltsv := "time:1795153331.123\thost:10.0.0.1\tvhost:shop\tmethod:GET\turi:/\tstatus:200\tsize:1\trequest_length:80\t" +
		"reqtime:0.001\tupstream_time:0.001\tupstream_connect_time:0.000\tua:curl\n"
	f(ltsv, checkOK, "ltsv")
	f(few, checkWarn, "lacks $upstream_response_time", "log_format kasoku")
	f(strings.Repeat(ltsv, 10_000), checkOK, "ltsv") // longer than the sample
	f("", checkOK, "")
	f("{\"status\":200}\n", checkWarn, "log_format kasoku")
	f("127.0.0.1 - - [20/Nov/2026:14:02:11 +0900] \"GET / HTTP/1.1\" 200 1 \"-\" \"curl\"\n", checkWarn, "lacks $request_time")
	d := newTestDoctor(t, "[logs]\nerror = '/no/such/dir/error.log'\n")
	logExam{d.exam}.check()
	d.want(t, "error log", checkMissing, "there is no such file")
}

func TestDoctor_Capture(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := newTestDoctor(t, "[capture]\nfiles = ["+initcmd.QuoteTOML(dir+"/*.conf")+", '/no/such/*.conf']\nrepository = "+initcmd.QuoteTOML(dir)+"\nunits = ['x.service']\n"+
		"[watch]\npids = [1, 999999999]\nprocesses = ['missing']\n[[finalize.units]]\nname = 'own'\nstart = 'true'\nstop = 'true'\ncheck = 'true'\n")
	d.host.Systemd = false
	captureExam{d.exam}.check()
	processExam{d.exam}.check()
	d.checkFinalize()
	d.want(t, "files", checkMissing, "/no/such/*.conf: no file matches")
	d.want(t, "git", checkMissing, "is no git checkout")
	d.want(t, "unit x.service", checkMissing, "systemd does not run this host")
	d.want(t, "pid 999999999", checkWarn, "does not run now")
	d.want(t, "missing", checkWarn, "no service of that name")
	d.want(t, "unit own", checkOK, "its own commands")
}

// TestDoctor_Servers: servers of the file are asked as in a run; those that run here
// and are not in it are named with the lines for it.
func TestDoctor_Servers(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "Active connections: 1 \nserver accepts handled requests\n 1 1 1 \nReading: 0 Writing: 1 Waiting: 0 \n")
	}))
	defer web.Close()
	d := newTestDoctor(t, "[nginx]\nstatus = '"+web.URL+"'\n[redis]\naddress = '/nowhere/redis.sock'\npassword_env = 'KASOKU_TEST_NO_SUCH'\n"+
		"[graphite]\nstorage = '/nowhere'\n[varnish]\nstat = '/nowhere/varnishstat'\n[watch]\nexpvar = ['http://127.0.0.1:1/debug/vars']\n")
	d.found = &topology.Found{}
	serverExam{d.exam}.check()
	d.want(t, "nginx", checkOK, web.URL+": 7 values")
	d.want(t, "redis", checkMissing, "KASOKU_TEST_NO_SUCH is not set")
	d.want(t, "graphite", checkMissing, "no such file")
	d.want(t, "varnish", checkMissing, "no such file")
	d.want(t, "expvar", checkMissing, "refused")

	d = newTestDoctor(t, "[load]\nfor = '1s'\n")
	d.found = &topology.Found{Services: []topology.Service{
		{Kind: topology.Nginx, Name: "nginx", Nginx: &topology.WebServer{}},
		{Kind: topology.Redis, Name: "redis-server", Redis: &topology.CacheServer{Address: "rediss://127.0.0.1:6379", TLS: true}},
		{Kind: topology.Varnish, Name: "varnishd", Varnish: &topology.VarnishServer{Answers: true}},
		{Kind: topology.Carbon, Name: "carbon-cache", Carbon: &topology.CarbonServer{Query: "127.0.0.1:7002"}},
	}}
	serverExam{d.exam}.check()
	d.want(t, "nginx", checkWarn, "no page of stub_status that answers")
	d.want(t, "redis", checkWarn, "redis-server pid 0 answers")
	d.want(t, "varnish", checkWarn, "reports its numbers")
	d.want(t, "graphite", checkWarn, "lets its cache be asked")
	for _, c := range d.checks {
		if len(c.Grants) != 1 || c.Asked {
			t.Errorf("%+v", c)
		}
		if g := c.Grants[0]; g.Where == config.Name {
			if _, err := config.Parse([]byte(g.Line), config.Name); err != nil {
				t.Errorf("%s: %v", g.Line, err)
			}
		}
	}
}

// TestDoctor_Print holds every form of the answer to a golden.
func TestDoctor_Print(t *testing.T) {
	d := newTestDoctor(t, "")
	d.file, d.who = "/srv/shop/kasoku.toml", topology.Who{Name: "isucon", UID: 1000}
	d.ok("run", "run files", "75.5 GB free in /srv/shop/runs")
	d.add(check{Area: "database", Name: "slow log", State: checkMissing, Asked: true, Seen: "cannot be switched on: SUPER is missing", Lost: "the queries of a run",
		Cost: "the user may change global settings", Grants: []grant{{inDatabase, "GRANT SUPER ON *.* TO 'app'@'localhost';"}}})
	d.add(check{Area: "logs", Name: "access log", State: checkWarn, Seen: "/var/log/nginx/access.log has no request times\x1b[31m", Lost: "the latency of endpoints",
		Grants: []grant{{"in nginx.conf", nginxconf.LogFormat}, {"kasoku.toml", "[mysql]\ndefaults_file = '\x1b]0;x'"}}})
	for _, format := range cli.Formats {
		e, out, _ := clitest.New()
		d.e = e
		if err := d.print(&cli.Output{Format: format}, false); err != nil {
			t.Fatal(err)
		}
		if format != "json" && strings.ContainsAny(out.String(), "\x1b\a") {
			t.Errorf("%s: escape sequences in %q", format, out)
		}
		golden.CheckString(t, "testdata/doctor/print."+format, out.String())
	}
}

// TestDoctor_Service: what is measured is drawn, with how each member was found; of a
// neighbour nothing is left.
func TestDoctor_Service(t *testing.T) {
	web, beside := sandboxtest.Nginx(t, sandbox.NginxOptions{}), sandboxtest.Nginx(t, sandbox.NginxOptions{})
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	d := newTestDoctor(t, "[service]\nurl = '"+web.URL()+"/'\n[mysql]\ndsn = "+initcmd.QuoteTOML(s.DSN("", ""))+"\n")
	var err error
	if d.found, err = topology.Look(t.Context(), topology.Options{}); err != nil {
		t.Fatal(err)
	}
	service := &serviceExam{exam: d.exam}
	service.find()
	service.check()
	d.want(t, "members", checkOK, "load → nginx :"+web.URL()[strings.LastIndexByte(web.URL(), ':')+1:], "mariadbd :", "; neighbours: ", " of ")
	d.want(t, "nginx", checkOK, "web server: listens at "+web.Addr()+", as was said")
	d.want(t, "mariadbd", checkOK, "database: ")
	for _, v := range d.found.Services {
		if v.PID == beside.Pid() {
			t.Errorf("a neighbour is left: %+v", v)
		}
	}
	if len(d.found.Of(topology.Nginx)) != 1 || len(d.found.Of(topology.MySQL)) != 1 {
		t.Errorf("services %+v", d.found.Services)
	}
	// Which of several is measured is not known: it asks, and shows of none what a run would not keep.
	d = newTestDoctor(t, "")
	d.file = ""
	if d.found, err = topology.Look(t.Context(), topology.Options{}); err != nil {
		t.Fatal(err)
	}
	service = &serviceExam{exam: d.exam}
	service.find()
	d.want(t, "members", checkWarn, "services run here, at the ports", " (load → nginx ")
	if len(d.found.Services)+len(d.found.Logs) > 0 {
		t.Errorf("shown, and of which service is not known: %+v %+v", d.found.Services, d.found.Logs)
	}
	d = newTestDoctor(t, "[service]\nport = 1\n")
	service = &serviceExam{exam: d.exam}
	service.find()
	service.check()
	d.want(t, "not seen", checkWarn, "who listens at 127.0.0.1:1", "start the service")
	// What was said and does not run is not made up for by what others run.
	if len(d.found.Services)+len(d.found.Logs) > 0 {
		t.Errorf("of others: %+v %+v", d.found.Services, d.found.Logs)
	}
}

// TestPlaces_Capabilities: setcap replaces what a file has, so a file is named once, with all that is missing.
func TestPlaces_Capabilities(t *testing.T) {
	l := &checklist{checks: []check{
		{Grants: rootGrants([]string{"setcap cap_sys_ptrace,cap_dac_read_search+ep /k"})},
		{Grants: rootGrants([]string{"usermod -aG adm me", "setcap cap_dac_read_search,cap_sys_ptrace+ep /k"})},
		{Grants: rootGrants([]string{"setcap cap_bpf,cap_sys_ptrace+ep /k", "setcap cap_bpf+ep /other"})},
	}}
	want := []string{"setcap cap_sys_ptrace,cap_dac_read_search,cap_bpf+ep /k", "usermod -aG adm me", "setcap cap_bpf+ep /other"}
	if got := l.places(); len(got) != 1 || !slices.Equal(got[0].lines, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
