package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func TestParse_Success(t *testing.T) {
	on := true
	f := func(doc string, change func(*Config)) {
		t.Helper()
		got, err := Parse([]byte(doc), Name)
		if err != nil {
			t.Errorf("%s\n%v", doc, err)
			return
		}
		want := Default()
		change(&want)
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", doc, *got, want)
		}
	}
	f("", func(*Config) {})
	f("# nothing\n", func(*Config) {})
	f("interval = '500 ms'\nproject = 'shop'", func(c *Config) { c.Interval, c.Project = 500*time.Millisecond, "shop" })
	f("load.command = './bench.sh | tee log'", func(c *Config) { c.Load.Command = []string{"sh", "-c", "./bench.sh | tee log"} })
	f("[load]\ncommand = ['ab', '-n', '10']\nscore.json = 'score'\n[load.pass]\nregexp = 'ok'", func(c *Config) {
		c.Load.Command, c.Load.Score.JSON, c.Load.Pass.Regexp = []string{"ab", "-n", "10"}, "score", "ok"
	})
	f("[load]\ntargets = 'GET http://127.0.0.1/'\nsteps = [1, 2.5]", func(c *Config) {
		c.Load.Targets, c.Load.Steps = []string{"GET http://127.0.0.1/"}, []float64{1, 2.5}
	})
	f("[load]\ntargets = 'GET http://127.0.0.1/{{int 1 9}}?q={{csv.name}}'\nsteps = [1]\nengine = 'nethttp'\npacing = 'economical'\nspacing = 'burst:5'\n"+
		"max_in_flight = 9\ntimeout = '3s'\nallow = 'example.com'\nvariables = true\ncsv = 'a.csv'\nseed = 7", func(c *Config) {
		c.Load = LoadTable{Targets: []string{"GET http://127.0.0.1/{{int 1 9}}?q={{csv.name}}"}, Steps: []float64{1}, Each: c.Load.Each, Pause: c.Load.Pause,
			Engine: "nethttp", Pacing: "economical", Spacing: "burst:5", MaxInFlight: 9, Timeout: 3 * time.Second,
			Allow: []string{"example.com"}, Variables: &on, CSV: "a.csv", Seed: 7}
	})
	f("[load]\non = 'POST /initialize'\nuntil_idle = '5s'", func(c *Config) { c.Load.On, c.Load.UntilIdle = "POST /initialize", 5*time.Second })
	f("[mysql]\nslow_log = true\ndsn = 'x'", func(c *Config) { c.MySQL.SlowLog, c.MySQL.DSN = &on, "x" })
	f("[capture]\nschema = false", func(c *Config) { c.Capture.Schema = false })
	f("[settings]\npool.max_idle = 100\n'pool.open' = 'many'\nfast = true\nx = 1.5", func(c *Config) {
		c.Settings = map[string]string{"pool.max_idle": "100", "pool.open": "many", "fast": "true", "x": "1.5"}
	})
	f("[[finalize.units]]\nname = 'db'\n[[finalize.units]]\nname = 'app'\nneeds = ['db']", func(c *Config) {
		c.Finalize.Units = []Unit{{Name: "db"}, {Name: "app", Needs: []string{"db"}}}
	})
}

// TestParse_Failure: an error is FILE:LINE: KEY: what, then a hint.
func TestParse_Failure(t *testing.T) {
	f := func(doc, want, hint string) {
		t.Helper()
		c, err := Parse([]byte(doc), "kasoku.toml")
		var e *Error
		if c != nil || !errors.As(err, &e) {
			t.Errorf("%s\ngot %v, %v", doc, c, err)
			return
		}
		if !strings.Contains(e.Error(), want) || !strings.Contains(e.Hint(), hint) {
			t.Errorf("%s\ngot  %s\nhint %s\nwant %s\nhint %s", doc, e, e.Hint(), want, hint)
		}
	}
	f("a =", "kasoku.toml:1: ", "text stands in quotes")
	f("\n\nx = 1", "kasoku.toml:3: x: no such key", "the keys here are project, runs")
	f("[load]\nfor = '9s'\nuntilidle = '5s'", "kasoku.toml:3: load.untilidle: no such key", `did you mean "until_idle"?`)
	f("[mysql]\naccess = ['x']", "kasoku.toml:2: mysql.access: no such key", `"access" belongs to [logs]`)
	f("[lod]\n", "kasoku.toml:1: lod: no such key", `did you mean "load"?`)
	f("[load]\nfor = 90", `kasoku.toml:2: load.for: want a duration in quotes, not the number 90`, "such as for = '90s'")
	f("[load]\nfor = '90'", `kasoku.toml:2: load.for: bad duration "90"`, "such as for = '90s'")
	f("[load]\nsteps = ['a']", "kasoku.toml:2: load.steps: want a list of numbers, not a list with something else", "such as steps = [100, 200, 400]")
	f("[service]\nlanguage = 'cobol'", `kasoku.toml:2: service.language: want one of go, java, javascript, php, python, ruby, rust, not "cobol"`, "")
	f("load = 3", "kasoku.toml:1: load: want a table, not the number 3", "[load]")
	f("[finalize]\nanswers = ['/x']", "kasoku.toml:2: finalize.answers[0]: \"/x\": want a method", "GET http")
	f("[answers]\nrequests = ['POST http://a/']", `kasoku.toml:2: answers.requests[0]: "POST http://a/": want GET or HEAD`, "")
	f("[answers]\nrequests = ['http:/a']", "kasoku.toml:2: answers.requests[0]: ", "such as 'GET")
	f("[contract]\nbots = '404'", "kasoku.toml:2: contract.bots: \"404\": want '503'", "leave it out")
	f("[[contract.routes]]\nstale = '1s'", "kasoku.toml:1: contract.routes[0]: names no route", "GET /api")
	f("[[contract.routes]]\nroute = 'api'", `kasoku.toml:2: contract.routes[0].route: "api": want a method and a path`, "GET /api")
	f("[[contract.routes]]\nroute = '/a b'", `contract.routes[0].route: "/a b": want one space`, "GET /api")
	f("[[contract.routes]]\nroute = '/a'\n[[contract.routes]]\nroute = '/a'", `kasoku.toml:4: contract.routes[1].route: "/a" is there twice`, "")
	f("[[contract.routes]]\nroute = '/a'\nstale = '-1s'", "kasoku.toml:3: contract.routes[0].stale: ", "")
	f("[[contract.routes]]\nroute = '/a'\nstale = 0", "kasoku.toml:3: contract.routes[0].stale: want a duration in quotes", "such as stale = '1s'")
	f("[finalize]\nlimit = '0s'", "kasoku.toml:2: finalize.limit: 0s: want more than none", "30s")
	f("[finalize.units]\nname = 'x'", "kasoku.toml:1: finalize.units: want a list of tables, not a table", "[[finalize.units]]")
	f("[[finalize.units]]\nname = 'a'\n\n[[finalize.units]]\nnaem = 'b'", "kasoku.toml:5: finalize.units[1].naem: no such key", `did you mean "name"?`)
	f("[[finalize.units]]\nname = 'a'\nneeds = ['b']\n[[finalize.units]]\nname = 'b'\nneeds = ['a']", "kasoku.toml:1: finalize.units: \"a\" needs itself", "")
	f("[[finalize.units]]\nname = 'a'\nneeds = ['c']", "kasoku.toml:3: finalize.units[0].needs: \"c\": no such unit", "")
	f("[load]\ncommand = 'x'\n\nfor = '5s'", "kasoku.toml:4: load.for: contradicts load.command", "keep one")
	f("[load]\ntargets = ['GET http://a/']", "kasoku.toml:2: load.targets: how much load", "add steps")
	f("[load]\nfor = '5s'\nseed = 7", "kasoku.toml:3: load.seed: is for load that kasoku makes", "add targets")
	f("[load]\ncommand = 'x'\ntimeout = '5s'", "kasoku.toml:3: load.timeout: is for load that kasoku makes", "add targets")
	const target = "[load]\ntargets = ['GET http://a/']\nsteps = [1]\n"
	f(target+"engine = 'nethtpt'", `kasoku.toml:4: load.engine: "nethtpt": no such word`, `did you mean "nethttp"?`)
	f(target+"pacing = 'fast'", `kasoku.toml:4: load.pacing: "fast"`, "precise, economical")
	f(target+"spacing = 'burst'", `kasoku.toml:4: load.spacing: "burst"`, "burst:N")
	f(target+"spacing = 'burst:0'", `kasoku.toml:4: load.spacing: "0": want a whole number`, "burst:100")
	f(target+"max_in_flight = -1", "kasoku.toml:4: load.max_in_flight: -1", "as many")
	f(target+"max_in_flight = 1.5", "kasoku.toml:4: load.max_in_flight: want a whole number, not the number 1.5", "max_in_flight = 1000")
	f(target+"timeout = '0s'", "kasoku.toml:4: load.timeout: 0s", "30s")
	f(target+"seed = -1", "kasoku.toml:4: load.seed: -1", "")
	f(target+"csv = 'a'\nvariables = false", "kasoku.toml:4: load.csv: contradicts load.variables", "leave one out")
	f(target+"allow = ['http://a/']", "kasoku.toml:4: load.allow[0]: \"http://a/\": want a host", "example.com")
	f("[load]\ntargets = ['GET a']\nsteps = [1]", `kasoku.toml:2: load.targets[0]: "GET a": want a URL`, "GET http")
	f("[load]\nsteps = [1]", "kasoku.toml:2: load.steps: is for load that kasoku makes", "add targets")
	f("[load]\ncommand = 'x'\non = 'POST /x'", "kasoku.toml:3: load.on: is for a load that comes from elsewhere", "until_idle")
	f("[load]\nfor = '5s'\nscore.json = 'x'", "kasoku.toml:3: load.score: is read from the output of a command", "kasoku score")
	f("[load]\ncommand = 'x'\nscore.regexp = 'score'", `kasoku.toml:3: load.score.regexp: "score": want a group`, "([0-9.]+)")
	f("[load]\ncommand = 'x'\nscore.regexp = '('", "kasoku.toml:3: load.score.regexp: error parsing regexp", "single quotes")
	f("[load]\ncommand = ''", "kasoku.toml:2: load.command: names no program", "")
	f("[nginx]\nstatus = '127.0.0.1'", `kasoku.toml:2: nginx.status: "127.0.0.1": want a URL`, "stub_status")
	f("[redis]\naddress = 'localhost'", "kasoku.toml:2: redis.address: want host:port, the path of a socket, or rediss://host:port for TLS", "such as")
	f("[redis]\naddress = 'http://x:1'", "kasoku.toml:2: redis.address: want host:port, the path of a socket, or rediss://host:port for TLS", "such as")
	f("[redis]\naddress = 'rediss://me:s3cret@x'", "kasoku.toml:2: redis.address: a user or a password does not belong into the URL", "password_env")
	f("[redis]\naddress = 'x:1'\ncacert = 'ca.crt'", "kasoku.toml:1: redis: cacert, cert, key and sni are for TLS", "rediss://")
	f("[redis]\naddress = 'rediss://x'\ncert = 'c.crt'", "kasoku.toml:1: redis: a certificate and its key go together: cert and key", "")
	f("[redis]\ncommands = true", "kasoku.toml:1: redis: does not say where the server is", "address")
	f("[redis]\naddress = '/s'\npassword_env = 'hunter2!'", "kasoku.toml:3: redis.password_env: want the name of an environment variable", "does not belong")
	f("[graphite]\nquery = 'localhost'", `kasoku.toml:2: graphite.query: "localhost": want host:port`, "7002")
	f("[graphite]\nrender = 'localhost'", `kasoku.toml:2: graphite.render: "localhost": want a URL`, "/render")
	f("[graphite]\nquery = 'a:1'\nagents = ['web1']", `kasoku.toml:3: graphite.agents[0]: "web1": no name of a server`, "agents.web1-a")
	f("[graphite]\nagents = ['agents.a']", "kasoku.toml:2: graphite.agents: does not say where to look", "query")
	f("[mysql]\ndsn = 'x'\ndefaults_file = 'y'", "kasoku.toml:3: mysql.defaults_file: contradicts mysql.dsn", "password")
	f("interval = '1ms'", "kasoku.toml:1: interval: 1ms: want at least 100ms", "")
	f("x = '''\n\n'''\ny = \"a\\\"#\" # [z]\nload = { forr = '1s' }", "kasoku.toml:1: x: no such key", "")
	f("project = '''\n\n'''\nload = { forr = '1s' }", "kasoku.toml:4: load.forr: no such key", `did you mean "for"?`)
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", "/home/ann")
	path := filepath.Join(dir, Name)
	doc := "[logs]\naccess = 'log/access.log'\napp = ['/var/app.log']\n[mysql]\ndefaults_file = '~/.my.cnf'\n"
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	found, ok := Find(sub)
	if !ok || found != path {
		t.Fatalf("found %q, %v", found, ok)
	}
	c, err := Load(found)
	if err != nil {
		t.Fatal(err)
	}
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(c.Path, path)
	f(c.Dir, dir)
	f(c.Project, filepath.Base(dir))
	f(c.Runs, filepath.Join(dir, "runs"))
	f(c.Logs.Access[0], filepath.Join(dir, "log/access.log"))
	f(c.Logs.App[0], "/var/app.log")
	f(c.MySQL.DefaultsFile, "/home/ann/.my.cnf")
	f(c.Capture.Repository, "")
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

func TestLoad_Failure(t *testing.T) {
	f := func(data string, want string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), Name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	f(strings.Repeat("#", 2<<20), "read configuration: ")
	f("a = 1", Name+":1: a: no such key")
	if _, err := Load("nowhere/" + Name); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestExamples: the example of each key is a value that it takes.
func TestExamples(t *testing.T) {
	visit(reflect.ValueOf(new(Config)).Elem(), "", func(key string, f field) {
		if got, mistakes := try(f, f.example); len(mistakes) > 0 || got.IsZero() {
			t.Errorf("%s: %v", key, mistakes)
		}
	})
}

// TestContract: what is promised goes into the settings of a run, and comes out of them.
func TestContract(t *testing.T) {
	c, err := Parse([]byte("[contract]\nbots = '503'\n[[contract.routes]]\nroute = 'GET /a/*'\nstale = '0s'\nlimit = '2s'\nfailure = 'x'\n[[contract.routes]]\nroute = '/b'\nlimit = '1s'"), "kasoku.toml")
	if err != nil {
		t.Fatal(err)
	}
	rec := kasoku.Recording{Settings: c.Contract.Settings()}
	a, _ := rec.TermsOf("GET", "/a/7")
	b, _ := rec.TermsOf("POST", "/b")
	if a.Stale == nil || *a.Stale != 0 || a.Limit != 2*time.Second || a.Failure != "x" || b.Stale != nil || b.Limit != time.Second {
		t.Errorf("%+v %+v", a, b)
	}
	if v, _ := rec.Setting("app", "contract.bots"); v != "503" {
		t.Errorf("%+v", rec.Settings)
	}
}
