package initcmd

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/varnish"
	"github.com/kasoku/kasoku/topology"
)

// contest is a host as discover finds it.
func contest() *Surveyed {
	return &Surveyed{
		Dir: "/home/isucon/shop", who: topology.Who{Name: "isucon", UID: 1000},
		db: Reached{DefaultsFile: "/home/isucon/.my.cnf", User: "isucon@localhost", server: "MySQL 9.7.0", databases: []string{"shop", "stats"},
			how: "user and password from /home/isucon/.my.cnf"},
		found: &topology.Found{
			Host: "app1", User: "isucon", Systemd: true, Took: 12300 * time.Microsecond,
			Services: []topology.Service{
				{Kind: topology.Nginx, Name: "nginx", PID: 812, Unit: "nginx.service", Config: []string{"/etc/nginx/nginx.conf", "/etc/nginx/sites-enabled/shop.conf"},
					Listen: []topology.Listener{{Network: "tcp", Address: "0.0.0.0:80", Port: 80}}, How: "listens; nginx -T"},
				{Kind: topology.App, Name: "shop", PID: 1204, Unit: "shop-go.service", Repository: "/home/isucon/webapp", Score: 12,
					Listen: []topology.Listener{{Network: "tcp", Address: "127.0.0.1:8080", Port: 8080, Loopback: true}},
					Why:    []string{"nginx passes requests on to 127.0.0.1:8080"}, Go: &topology.GoProgram{Pprof: "http://127.0.0.1:6060/debug/pprof/"}},
				{Kind: topology.App, Name: "editor", PID: 1300, Score: 3},
				{Kind: topology.MySQL, Name: "mysqld", PID: 900, Unit: "mysql.service", Config: []string{"/etc/mysql/my.cnf"}, MySQL: &topology.Database{Flavor: "MySQL", Port: 3306}},
			},
			Logs: []topology.Log{
				{Kind: topology.AccessLog, Path: "/nowhere/access.log", Service: "nginx, pid 812", Format: "combined", How: "access_log in /etc/nginx/nginx.conf"},
				{Kind: topology.ErrorLog, Path: "/nowhere/error.log", Service: "nginx, pid 812", Format: "error", How: "nginx's default"},
			},
			Notes: []topology.Note{{What: "log of shop", Why: "its output goes to the journal", Hint: "journalctl -u shop-go"}},
		},
	}
}

var someDay = time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC)

func TestInit_Contest(t *testing.T) {
	text := contest().TOML(someDay)
	golden.CheckString(t, "testdata/init/contest.toml", text)
	c, err := config.Parse([]byte(text), config.Name)
	if err != nil {
		t.Fatal(err)
	}
	if c.Load.Kind() != config.UntilIdle || c.MySQL.DefaultsFile == "" || len(c.Finalize.Units) != 3 || !slices.Equal(c.Finalize.Units[1].Needs, []string{"mysql"}) {
		t.Errorf("got %+v", c)
	}
}

// TestInit_Servers: what answered is in force, and what did not says so.
func TestInit_Servers(t *testing.T) {
	s := contest()
	s.found.Services[0].Nginx = &topology.WebServer{Status: "http://127.0.0.1/status"}
	s.found.Services[1].Go.Vars = "http://127.0.0.1:6060/debug/vars"
	s.found.Services = append(s.found.Services,
		topology.Service{Kind: topology.Redis, Name: "redis-server", PID: 7, Redis: &topology.CacheServer{}},
		topology.Service{Kind: topology.Redis, Name: "redis-server", PID: 8, Redis: &topology.CacheServer{Address: "rediss://127.0.0.1:6379", Password: true, TLS: true, Stranger: true}},
		topology.Service{Kind: topology.Varnish, Name: "varnishd", PID: 9, Varnish: &topology.VarnishServer{Name: "/run/v", Answers: true}},
		topology.Service{Kind: topology.Carbon, Name: "carbon-cache", PID: 10, Carbon: &topology.CarbonServer{Query: "127.0.0.1:7002", Storage: "/nowhere/whisper"}},
	)
	text := s.TOML(someDay)
	_, part, _ := strings.Cut(text, "# The page on which")
	part, _, _ = strings.Cut(part, "# The configuration in force")
	golden.CheckString(t, "testdata/init/servers.toml", "# The page on which"+part)
	c, err := config.Parse([]byte(text), config.Name)
	if err != nil {
		t.Fatal(err)
	}
	want := redis.Table{At: "rediss://127.0.0.1:6379", PasswordEnv: "REDIS_PASSWORD"}
	carbon := c.Server(graphite.Name).(*graphite.Table)
	if !c.Server(nginx.Name).IsSet() || *c.Server(redis.Name).(*redis.Table) != want || c.Server(varnish.Name).(*varnish.Table).Name != "/run/v" ||
		carbon.Query == "" || carbon.Storage == "" || len(c.Watch.Expvar) != 1 || len(c.Watch.Pprof) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestInit_Nothing(t *testing.T) {
	s := &Surveyed{Dir: "/srv/x", found: &topology.Found{Host: "empty"}, DBErr: errors.New("refused")}
	text := s.TOML(someDay)
	golden.CheckString(t, "testdata/init/nothing.toml", text)
	c, err := config.Parse([]byte(text), config.Name)
	if err != nil {
		t.Fatal(err)
	}
	if c.Load.Kind() != config.ForTime {
		t.Errorf("got %+v", c.Load)
	}
	s.bench = "./bench.sh"
	c, err = config.Parse([]byte(s.TOML(someDay)), config.Name)
	if err != nil || c.Load.Kind() != config.Command {
		t.Errorf("with a benchmark: %+v, %v", c, err)
	}
}

// TestInit_Doubles: requests that several logs have are read from one of them.
func TestInit_Doubles(t *testing.T) {
	log := func(path, format, twin string, timed bool) topology.Log {
		return topology.Log{Kind: topology.AccessLog, Path: path, Format: format, Twin: twin, RequestTime: timed, Service: "x"}
	}
	f := func(want []string, logs ...topology.Log) {
		t.Helper()
		s := &Surveyed{Dir: "/srv/x", found: &topology.Found{Logs: logs}}
		c, err := config.Parse([]byte(s.TOML(someDay)), config.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Logs.Access, want) {
			t.Errorf("got %v, want %v", c.Logs.Access, want)
		}
	}
	f([]string{"/a"}, log("/a", "combined", "", false))
	f([]string{"/b"}, log("/a", "combined", "", false), log("/b", "ltsv", "/a", true), log("/c", "timed", "/a", true))
	f([]string{"/a", "/d"}, log("/a", "combined", "", false), log("/b", "combined", "/a", false), log("/d", "combined", "", false))
	f([]string{"/b"}, log("/a", "combined", "", false), log("/b", "ltsv", "/a", true), log("/app/access.log", "", "", false))
	f([]string{"/app1/access.log", "/app2/access.log"}, log("/app1/access.log", "", "", false), log("/app2/access.log", "", "", false))
}

// TestInit_Hostile: names of files, processes and accounts may hold anything; the
// file says them and nothing else.
func TestInit_Hostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("'\"\\\n\r#[]=\x00\x1b")))).Draw(t, "name")
		s := contest()
		s.found.Systemd = false
		s.found.Host = name
		s.found.Logs[0].Path = "/" + name
		s.found.Logs[0].How = name
		s.found.Services[1].Name = "p" + name
		s.found.Services[1].Repository = "/" + name
		s.db = Reached{}
		s.DBErr = errors.New(name)
		c, err := config.Parse([]byte(s.TOML(someDay)), config.Name)
		if err != nil {
			t.Fatalf("%q: %v\n%s", name, err, s.TOML(someDay))
		}
		if !reflect.DeepEqual(c.Logs.Access, []string{"/" + name}) || c.Capture.Repository != "/"+name || !slices.Contains(c.Watch.Processes, "p"+name) {
			t.Fatalf("%q: got %q, %q, %q", name, c.Logs.Access, c.Capture.Repository, c.Watch.Processes)
		}
	})
}

func TestInit_Table(t *testing.T) {
	e, out, _ := clitest.New()
	s := contest()
	if err := printDocument(e, s.document()); err != nil {
		t.Fatal(err)
	}
	golden.CheckString(t, "testdata/init/table.txt", out.String())
}

// TestInit_Databases: of several databases that let us in it is the one that the
// application uses; the others are named.
func TestInit_Databases(t *testing.T) {
	f := func(wantDSN, wantTable string, wantText ...string) func(in []Reached, all []neighbour) {
		return func(in []Reached, all []neighbour) {
			t.Helper()
			s := contest()
			s.db = chooseDatabase(in, all)
			text := s.TOML(someDay)
			c, err := config.Parse([]byte(text), config.Name)
			if err != nil || c.MySQL.DSN != wantDSN {
				t.Fatalf("%v, DSN %q, want %q", err, c.MySQL.DSN, wantDSN)
			}
			for _, want := range wantText {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			e, out, _ := clitest.New()
			if err := printDocument(e, s.document()); err != nil || !strings.Contains(out.String(), wantTable) {
				t.Errorf("%v, no %q in\n%s", err, wantTable, out)
			}
		}
	}
	db := func(name string, pid int, clients ...string) (Reached, neighbour) {
		v := &topology.Service{Kind: topology.MySQL, Name: name, PID: pid, MySQL: &topology.Database{Clients: clients}}
		dsn := "isucon@unix(/run/" + name + ".sock)/"
		return Reached{service: v, DSN: dsn, User: "isucon@localhost", server: "MySQL 9.7.0", how: "without a password"}, neighbour{service: v, dsn: dsn}
	}
	a, na := db("a", 1)
	b, nb := db("b", 2)
	c, nc := db("c", 3, "shop")
	f("isucon@unix(/run/c.sock)/", "isucon@localhost, one of 3: shop is connected to it",
		"# The database is one of 3: shop is connected to it. Others that run here:\n# a pid 1.\n# dsn = 'isucon@unix(/run/a.sock)/'\n# b pid 2.\n# dsn = 'isucon@unix(/run/b.sock)/'\n",
	)([]Reached{a, b, c}, []neighbour{na, nb, nc})
	f("isucon@unix(/run/a.sock)/", "isucon@localhost, one of 2: check it", "# The database is one of 2: check it.", "# dsn = 'isucon@unix(/run/b.sock)/'\n")([]Reached{a, b}, []neighbour{na, nb})
	nc.refused = errors.New("denied")
	f("isucon@unix(/run/a.sock)/", "one of 2: check it", "# c pid 3 lets no one in without a password; connected: shop.\n")([]Reached{a}, []neighbour{na, nc})
	f("isucon@unix(/run/a.sock)/", "isucon@localhost  ")([]Reached{a}, []neighbour{na})
}
