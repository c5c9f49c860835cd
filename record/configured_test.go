package record

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/record/thishost"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// fromTOML returns the options that a kasoku.toml in a directory of its own makes.
func fromTOML(t testing.TB, doc string, files map[string]string) (Options, string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, config.Name)
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Configured(c, Options{Path: filepath.Join(dir, "x.kasoku"), Run: kasoku.Run{Label: "kept"}})
	if err == nil {
		err = o.Validate()
	}
	return o, dir, err
}

func TestConfigured(t *testing.T) {
	f := func(doc string, check func(o Options, dir string) bool) {
		t.Helper()
		o, dir, err := fromTOML(t, doc, map[string]string{"my.cnf": "[client]\nuser=app\nsocket=/run/s.sock\n", "targets.txt": "POST http://127.0.0.1:1/users\n@body\n", "body": "{}", "ids.csv": "id\na\nb\n"})
		if err != nil || o.Run.Label != "kept" || !check(o, dir) {
			t.Errorf("%s\n%v\n%+v", doc, err, o)
		}
	}
	t.Setenv("KASOKU_TEST_PASSWORD", "s3cret")
	f("load.for = '90s'\n[redis]\naddress = 'rediss://cache'\ncacert = 'ca.crt'\ncert = 'c.crt'\nkey = 'c.key'\nsni = 'n'", func(o Options, dir string) bool {
		return len(o.Servers) == 1 && *o.Servers[0].(*redis.Table) == redis.Table{
			At: "rediss://cache", CACert: filepath.Join(dir, "ca.crt"), Cert: filepath.Join(dir, "c.crt"), Key: filepath.Join(dir, "c.key"), SNI: "n",
		}
	})
	f("load.for = '90s'\n[redis]\naddress = '127.0.0.1:6379'\npassword_env = 'KASOKU_TEST_PASSWORD'\ncommands = true\n[graphite]\nquery = '127.0.0.1:7002'\nstorage = 'whisper'\nagents = ['agents.a-a']", func(o Options, dir string) bool {
		cache, carbon := o.Servers[0].(*redis.Table), o.Servers[1].(*graphite.Table)
		return len(o.Servers) == 2 && *cache == redis.Table{At: "127.0.0.1:6379", PasswordEnv: "KASOKU_TEST_PASSWORD", Commands: true} &&
			carbon.Query == "127.0.0.1:7002" && carbon.Storage == filepath.Join(dir, "whisper") && slices.Equal(carbon.Agents, []string{"agents.a-a"})
	})
	f("load.for = '90s'", func(o Options, dir string) bool {
		return o.For == 90*time.Second && o.Run.Load == "for 1 min 30 s" && o.Interval == time.Second && o.Run.Project == filepath.Base(dir) && o.Capture != nil
	})
	f("interval = '200ms'\nproject = 'shop'\nload.command = './bench.sh --all'\nprice = { per_hour = 0.5, currency = 'USD' }\n[settings]\npool.max = 3\n[capture]\noff = true", func(o Options, dir string) bool {
		return o.Interval == 200*time.Millisecond && o.Run.Project == "shop" && o.Dir == dir && slices.Equal(o.Command, []string{"sh", "-c", "./bench.sh --all"}) &&
			o.Run.Load == "./bench.sh --all" && o.Run.Price == kasoku.Price{PerHour: 0.5, Currency: "USD"} && o.Capture == nil &&
			slices.Equal(o.Settings, []kasoku.Setting{{Scope: "app", Name: "pool.max", Value: "3"}})
	})
	f("[load]\ncommand = ['./bench', '-n', '3']\nscore.json = 'score'\npass.regexp = '(PASS)'", func(o Options, dir string) bool {
		return o.Command[0] == filepath.Join(dir, "bench") && o.Run.Load == "./bench -n 3" && o.Score.JSON == "score" && o.Pass.Regexp == "(PASS)"
	})
	f("[load]\ncommand = ['ab', '-n', '3']", func(o Options, _ string) bool { return o.Command[0] == "ab" })
	f("[load]\ntargets = ['GET http://127.0.0.1:1/', 'GET http://127.0.0.1:1/b']\nsteps = [5, 10]\neach = '2s'\npause = '3s'\nsettle = '1s'", func(o Options, _ string) bool {
		rate, ok := o.Load.Next([]Done{{}})
		return len(o.Load.Targets) == 2 && o.Load.Each == 2*time.Second && o.Load.Pause == 3*time.Second && o.Load.Settle == time.Second &&
			rate == 10 && ok && o.Run.Load == "GET / and 1 more, open loop"
	})
	f("[load]\ntargets_file = 'targets.txt'\nsteps = [5]", func(o Options, _ string) bool {
		return len(o.Load.Targets) == 1 && string(o.Load.Targets[0].Body) == "{}" && o.Run.Load == "POST /users, open loop"
	})
	f("[load]\ntargets = 'GET http://127.0.0.1:1/{{csv.id}}'\nsteps = [5]\nspacing = 'poisson'\nseed = 7\ncsv = 'ids.csv'\npacing = 'economical'\nengine = 'nethttp'", func(o Options, _ string) bool {
		return o.Load.Spacing == load.Poisson && o.Load.Seed == 7 && string(o.Load.Targets[0].Fill.URL.Append(nil, 1)) == "http://127.0.0.1:1/b" &&
			o.Run.Load == "GET /:id, open loop, Poisson arrivals"
	})
	f("[load]\ntargets = 'GET http://127.0.0.1:1/{{csv.id}}'\nsteps = [5]\nspacing = 'burst:10'\nvariables = false", func(o Options, _ string) bool {
		return o.Load.Spacing == load.Burst(10) && o.Load.Seed == 0 && o.Load.Targets[0].Fill == nil && strings.HasSuffix(o.Run.Load, ", open loop, bursts of 10")
	})
	f("[load]\ntargets = 'GET http://127.0.0.1:1/{{uuid}}'\nsteps = [5]", func(o Options, _ string) bool { return o.Load.Seed != 0 })
	f("[load]\non = 'POST /initialize'\nuntil_idle = '5s'\n[logs]\naccess = ['a.log', 'b.log']\napp = 'c.log'\nerror = 'd.log'\nquiet = true", func(o Options, dir string) bool {
		return o.On == phases.Initialize && o.UntilIdle == 5*time.Second && o.Run.Load == "on POST /initialize, until idle for 5 s" &&
			len(o.accessLogs()) == 2 && o.MoreLogs.Quiet && slices.Equal(o.appLogs(), []string{filepath.Join(dir, "c.log")}) && slices.Equal(o.MoreLogs.Error, []string{filepath.Join(dir, "d.log")})
	})
	f("load.for = '1s'\n[mysql]\ndsn = 'app@tcp(127.0.0.1:1)/shop'\ncount_rows = ['users']", func(o Options, _ string) bool {
		return o.SlowLog && !o.Digests && slices.Equal(o.CountRows, []string{"users"})
	})
	f("load.for = '1s'\n[mysql]\ndefaults_file = 'my.cnf'\nslow_log = false\ndigests = true", func(o Options, _ string) bool {
		return strings.Contains(o.MySQL, "app@unix(/run/s.sock)") && !o.SlowLog && o.Digests
	})
	self := filepath.Base(os.Args[0])
	f("load.for = '1s'\n[watch]\npids = [1]\nprocesses = ['"+self+"']", func(o Options, _ string) bool {
		return slices.Equal(o.PIDs, []int{1}) && slices.Contains(o.Watched, os.Getpid())
	})
}

// TestOwnWatched: of the processes of one name, those of neighbours are left out where a member
// has that name too, unless a unit that was named runs them.
func TestOwnWatched(t *testing.T) {
	const mine, neighbour, other, worker = 10, 11, 12, 13
	proc := procOf(t, map[int][2]string{
		mine: {"python3\n", "0::/system.slice/app.service\n"}, neighbour: {"python3\n", "0::/user.slice\n"},
		other: {"tail\n", "0::/user.slice\n"}, worker: {"python3\n", "0::/system.slice/worker.service\n"},
	})
	all := []int{mine, neighbour, other, worker}
	service := kasoku.Service{Members: []kasoku.Member{{Processes: []kasoku.MemberProcess{{PID: mine, Leader: true}}}}}
	if got := thishost.OwnWatched(proc, all, nil, &service); !slices.Equal(got, []int{mine, other}) {
		t.Errorf("%v of %v, want what is no neighbour's", got, all)
	}
	if got := thishost.OwnWatched(proc, all, []string{"worker"}, &service); !slices.Equal(got, []int{mine, other, worker}) {
		t.Errorf("%v of %v, want all but %d", got, all, neighbour)
	}
	if got := thishost.OwnWatched(proc, all, nil, &kasoku.Service{}); !slices.Equal(got, all) {
		t.Errorf("of a service that is not known: %v of %v", got, all)
	}
}

// procOf makes a proc file system of processes with a name and control groups.
func procOf(t *testing.T, processes map[int][2]string) (proc string) {
	t.Helper()
	proc = t.TempDir()
	for pid, files := range processes {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "comm"), []byte(files[0]), 0o600),
			os.WriteFile(filepath.Join(dir, "cgroup"), []byte(files[1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return proc
}

// TestConfigured_Words: every word that a kasoku.toml takes is one that the load
// knows.
func TestConfigured_Words(t *testing.T) {
	for _, e := range config.Engines() {
		for _, p := range config.Pacings() {
			for _, s := range []string{"even", "poisson", "burst:7"} {
				doc := fmt.Sprintf("[load]\ntargets = 'GET http://127.0.0.1:1/'\nsteps = [5]\nengine = '%s'\npacing = '%s'\nspacing = '%s'", e, p, s)
				if _, _, err := fromTOML(t, doc, nil); err != nil {
					t.Errorf("%s\n%v", doc, err)
				}
			}
		}
	}
}

func TestConfigured_Failure(t *testing.T) {
	f := func(doc, want string) {
		t.Helper()
		_, dir, err := fromTOML(t, doc, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s in %s\n%v, want %q", doc, dir, err, want)
		}
	}
	f("", "kasoku.toml: it does not say what a run does")
	f("load.until_idle = '1s'", "none is named")
	f("load.for = '1s'\nmysql.defaults_file = 'none.cnf'", "none.cnf")
	f("[load]\ntargets_file = 'none.txt'\nsteps = [1]", "none.txt")
	f("[load]\ntargets = 'GET http://127.0.0.1/'\nsteps = [1]\ncsv = 'none.csv'", "none.csv")
	f("[load]\ntargets = 'GET http://127.0.0.1/{{csv.x}}'\nsteps = [1]", "csv.x")
	f("[load]\ntargets = 'GET https://127.0.0.1/'\nsteps = [1]\nengine = 'epollhttp'", "https")
	f("[load]\ntargets_file = '"+config.Name+"'\nsteps = [1]", config.Name+":1")
	if _, _, err := fromTOML(t, "", nil); !errors.Is(err, ErrNoLoad) {
		t.Error(err)
	}
}

func TestWatched(t *testing.T) {
	proc := procOf(t, map[int][2]string{
		10: {"node\n", "0::/system.slice/app.service\n"},
		11: {"averylongprogra\n", "0::/user.slice\n"},
		12: {"sh\n", "0::/system.slice/app.service/worker\n"},
		13: {"sh\n", "1:cpu:/\n0::/system.slice/other.service\n"},
	})
	f := func(names, units []string, want ...int) {
		t.Helper()
		got := thishost.Watched(proc, names, units)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v, %v: %v, want %v", names, units, got, want)
		}
	}
	f(nil, nil)
	f([]string{"node"}, nil, 10)
	f([]string{"averylongprogramname"}, nil, 11)
	f(nil, []string{"app"}, 10, 12)
	f(nil, []string{"app.service", "other.service"}, 10, 12, 13)
	f([]string{"missing", ""}, []string{"none"})
	if got := thishost.Watched(filepath.Join(proc, "gone"), []string{"sh"}, nil); got != nil {
		t.Errorf("without procfs: %v", got)
	}
}

// TestRecord_WatchedPrepare: before the target is prepared too, a neighbour's process of the name
// of a member is not sampled.
func TestRecord_WatchedPrepare(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := quick(t)
	start := func() (address string, pid int) {
		address = freeAddress(t)
		p, err := command.Start(t.Context(), command.Spec{Path: exe, DieWithParent: true, Stderr: os.Stderr, Env: []string{
			"KASOKU_TEST_LISTEN=" + address, "KASOKU_TEST_DSN=root@tcp(127.0.0.1:1)/", "KASOKU_TEST_IDLE=1"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = p.Stop() })
		sandboxtest.Until(t, "the program answers", func() bool {
			resp, err := http.Get("http://" + address + "/")
			if err == nil {
				_ = resp.Body.Close()
			}
			return err == nil
		})
		return address, p.Pid()
	}
	address, own := start()
	_, neighbour := start()
	o.Service.URL, o.Watched = "http://"+address+"/", []int{own, neighbour}
	o.Prepare = during(func() error { return nil })
	rec := mustRecord(t, o)
	sampled := func(pid int) bool {
		return slices.ContainsFunc(rec.Series, func(s kasoku.Series) bool {
			return s.Key.Source == process.Name && strings.Contains(s.Key.Instance, strconv.Itoa(pid))
		})
	}
	if !sampled(own) || sampled(neighbour) {
		t.Errorf("sampled: the service's %v, the neighbour's %v", sampled(own), sampled(neighbour))
	}
}
