package cmd_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/internal/test/mackereltest"
	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// spy runs a command for the agent and keeps what it printed:
// DIR/NAME.{values,graphs,check}.RANDOM.
const spy = `#!/bin/sh
case ${MACKEREL_AGENT_PLUGIN_META-none} in none) kind=check;; 1) kind=graphs;; *) kind=values;; esac
dir=$1; out=$(mktemp "$dir/.XXXXXX"); to=$dir/$2.$kind.${out##*.}; shift 2
"$@" >"$out"; code=$?
mv "$out" "$to"
cat "$to"
exit $code
`

// A rig is the real mackerel-agent with all of our plugins and checks.
type rig struct {
	agent   string // its program
	dir     string // its root, with all that it needs
	printed string // where the spy keeps what it sees
	conf    string
	api     *mackereltest.Server
	plugins map[string][]string // with their arguments, by their names in the configuration
	checks  map[string][]string
}

// newRig builds the commands and writes the agent's configuration.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{agent: peertest.Path(t, "mackerel-agent"), dir: t.TempDir(), api: mackereltest.New(t, nil)}
	r.conf, r.printed = filepath.Join(r.dir, "mackerel-agent.conf"), filepath.Join(r.dir, "printed")
	graphite := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().Unix()
		fmt.Fprintf(w, `[{"target":"carbon.agents.h-a.metricsReceived","datapoints":[[1,%d],[2,%d],[null,%d]]}]`, now-120, now-60, now)
	}))
	t.Cleanup(graphite.Close)
	r.choose(t, sandboxtest.MariaDB(t, sandbox.Options{}), graphite.URL)
	if err := os.Mkdir(r.printed, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"mackerel-agent.conf": r.text(), "spy": spy, "passwd": "alice:x:1000:1000::/:/bin/sh\n", "lastlog": ""} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	build(t)
	return r
}

// choose describes what is run.
func (r *rig) choose(t *testing.T, server *sandbox.Server, graphite string) {
	t.Helper()
	web, err := url.Parse(graphite)
	if err != nil {
		t.Fatal(err)
	}
	port, socket := fmt.Sprint(server.Port), filepath.Join(r.dir, "maxcpu.sock")
	t.Cleanup(func() { stopSampler(t, socket) })
	r.plugins = map[string][]string{
		"maxcpu":   {"mackerel-plugin-maxcpu", "--socket", socket, "--per-cpu"},
		"status":   {"mackerel-plugin-command-status", "-n", "failing", "-q", "--", "sh", "-c", "echo noise; exit 3"},
		"process":  {"mackerel-plugin-linux-process-status", "-p", fmt.Sprint(os.Getpid()), "--key-prefix", "test"},
		"mysql":    {"mackerel-plugin-mysql", "-host", "127.0.0.1", "-port", port, "-enable_extended"},
		"lite":     {"mackerel-plugin-mysql-lite", "-H", "127.0.0.1", "-p", port, "-u", "root"},
		"graphite": {"mackerel-plugin-graphite", "-webhost", web.Hostname(), "-webport", web.Port(), "-type", "cache", "-host", "h"},
	}
	r.checks = map[string][]string{
		"good":        {"check-command-status", "-n", "good", "--", "true"},
		"command":     {"check-command-status", "-n", "bad", "--warning-exit-code", "3", "--", "sh", "-c", "echo 最後の行 >&2; exit 3"},
		"lastlog":     {"check-lastlog", "--passwd-file", filepath.Join(r.dir, "passwd"), "--lastlog-file", filepath.Join(r.dir, "lastlog")},
		"connections": {"check-mysql-connections", "-H", "127.0.0.1", "-p", port, "-u", "root", "--critical-free", "100000"},
		"host":        {"check-mackerel-host-status", "--conf", r.conf, "--status", "maintenance"},
	}
}

// text is the agent's configuration.
func (r *rig) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "apibase = %q\napikey = %q\nroot = %q\npidfile = %q\nroles = [\"%s:%s\"]\ncloud_platform = \"none\"\n[host_status]\non_start = \"standby\"\n",
		r.api.URL, mackereltest.Key, r.dir, filepath.Join(r.dir, "pid"), mackereltest.Service, mackereltest.Role)
	for kind, all := range map[string]map[string][]string{"metrics": r.plugins, "checks": r.checks} {
		for name, argv := range all {
			words := []string{strconv.Quote(filepath.Join(r.dir, "spy")), strconv.Quote(r.printed), strconv.Quote(name)}
			for _, w := range append([]string{filepath.Join(binaries, argv[0])}, argv[1:]...) {
				words = append(words, strconv.Quote(w))
			}
			fmt.Fprintf(&b, "[plugin.%s.%s]\ncommand = [%s]\n", kind, name, strings.Join(words, ", "))
			if name == "graphite" {
				fmt.Fprintln(&b, "use_plugin_timestamp = true")
			}
		}
	}
	return b.String()
}

// spec is one way to start the agent.
func (r *rig) spec(words ...string) command.Spec {
	return command.Spec{Path: r.agent, Args: append(words, "-conf", r.conf), Env: []string{"MACKEREL_PLUGIN_WORKDIR=" + r.dir}, DieWithParent: true}
}

// saw returns what the spy has seen of one kind, by the names of the commands, and
// forgets it when asked to.
func (r *rig) saw(t *testing.T, kind string, forget bool) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.printed, "*."+kind+".*"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		out[name] = append(out[name], string(text))
		if forget {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// stopSampler ends the sampler that mackerel-plugin-maxcpu has started.
func stopSampler(t *testing.T, socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Errorf("the sampler: %v", err)
		return
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			_ = syscall.Kill(int(cred.Pid), syscall.SIGTERM) // it ends by itself, too
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// A posted value has the time that the agent took over from the plugin, if any.
type posted struct {
	Value float64
	Time  *int64
}

// once lets the agent collect everything one time.
func (r *rig) once(t *testing.T) map[string]posted {
	t.Helper()
	out, err := command.Output(t.Context(), r.spec("once"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Metrics struct {
			Values []struct{ Values map[string]posted }
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string]posted{}
	for _, v := range doc.Metrics.Values {
		maps.Copy(all, v.Values)
	}
	maps.DeleteFunc(all, func(name string, _ posted) bool { return !strings.HasPrefix(name, "custom.") })
	return all
}

// expected is what the agent makes of a plugin's output: one value of each name, the
// last one.
func expected(t *testing.T, name, printed string) map[string]posted {
	t.Helper()
	points, bad := agenttest.ParseValues(printed, time.Now())
	if len(bad) > 0 {
		t.Errorf("%s: %q", name, bad)
	}
	out := map[string]posted{}
	for _, p := range points {
		v := posted{Value: p.Value}
		if name == "graphite" {
			v.Time = &p.Time
		}
		out["custom."+p.Name] = v
	}
	return out
}

// TestAgent runs the real mackerel-agent.
func TestAgent(t *testing.T) {
	turn.Wait(t)
	r := newRig(t)
	t.Run("once", r.testOnce)
	t.Run("service", r.testService)
}

// testOnce: what the agent reads is what each plugin printed.
func (r *rig) testOnce(t *testing.T) {
	var got map[string]posted
	seen := map[string][]string{}
	sandboxtest.Until(t, "values of all plugins, differences of counters included", func() bool {
		got = r.once(t)
		seen = r.saw(t, "values", true)
		_, share := got["custom.process-status.cpu_test.percentage"]
		_, com := got["custom.mysql.cmd.Questions"]
		_, busy := got["custom.maxcpu.us_sy_wa_si_st_usage.max"]
		return share && com && busy
	})
	want := map[string]posted{}
	for name := range r.plugins {
		if len(seen[name]) != 1 {
			t.Fatalf("%s was run %d times", name, len(seen[name]))
		}
		of := expected(t, name, seen[name][0])
		if len(of) == 0 {
			t.Errorf("%s printed nothing", name)
		}
		maps.Copy(want, of)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the agent has\n%v\nprinted was\n%v", got, want)
	}
	if v := got["custom.command-status.exit-code.failing"]; v.Value != 3 {
		t.Errorf("exit code %v", v)
	}
	if v := got["custom.graphite-carbon.cache.metricsReceived.a"]; v.Value != 2 || v.Time == nil || time.Since(time.Unix(*v.Time, 0)) < time.Minute {
		t.Errorf("graphite: %+v", v)
	}
}

// TestAgentConfiguration: the agent knows what the documentation says to write into
// its configuration.
func TestAgentConfiguration(t *testing.T) {
	agent := peertest.Path(t, "mackerel-agent")
	for _, page := range []string{"../docs/plugins.md", "../docs/ja/plugins.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```toml\n")[1:]
		if len(blocks) < 8 {
			t.Errorf("%s: %d pieces of configuration", page, len(blocks))
		}
		for _, block := range blocks {
			block, _, _ = strings.Cut(block, "```")
			conf := filepath.Join(t.TempDir(), "mackerel-agent.conf")
			if err := os.WriteFile(conf, []byte("apikey = \"x\"\n"+block), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := command.Output(t.Context(), command.Spec{Path: agent, Args: []string{"configtest", "-conf", conf}}, 0); err != nil {
				t.Errorf("%s: %v\n%s", page, err, block)
			}
		}
	}
}

// testService lets the agent run against a Mackerel that refuses what it does not
// know: it registers, its graph definitions and reports of checks are what the
// commands printed, and it retires. Its values come with its first minute, which is
// waited for with KASOKU_LONG=1.
func (r *rig) testService(t *testing.T) {
	for _, kind := range []string{"values", "graphs"} {
		r.saw(t, kind, true)
	}
	console := command.NewTail(1 << 16)
	spec := r.spec()
	spec.Stdout, spec.Stderr = console, console
	agent, err := command.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = agent.Stop() // when the test has not done it
		if t.Failed() {
			t.Logf("mackerel-agent:\n%s", console)
		}
	})
	sandboxtest.Until(t, "graph definitions, and reports of what is not well", func() bool {
		at := reported(r.api)
		at["good"] = true
		return len(r.api.Graphs()) > 0 && len(at) == len(r.checks)
	})
	r.checkHost(t)
	r.checkGraphs(t)
	if os.Getenv("KASOKU_LONG") != "" {
		r.checkValues(t)
	}
	if res, err := agent.Stop(); err != nil || res.ExitCode != 0 {
		t.Errorf("the agent's end: %+v, %v", res, err)
	}
	r.checkReports(t)
	if _, err := command.Output(t.Context(), r.spec("retire", "-force"), 0); err != nil || !r.api.Hosts()[0].Retired {
		t.Errorf("retire: %v, %+v", err, r.api.Hosts())
	}
	if strings.Contains(console.String(), "ERROR") {
		t.Errorf("mackerel-agent complains:\n%s", console)
	}
}

// reported are the checks of which a report came.
func reported(api *mackereltest.Server) map[string]bool {
	out := map[string]bool{}
	for _, r := range api.Reports() {
		out[r.Name] = true
	}
	return out
}

// checkHost looks at what the agent registered.
func (r *rig) checkHost(t *testing.T) {
	t.Helper()
	hosts := r.api.Hosts()
	name, _ := os.Hostname()
	if len(hosts) != 1 || hosts[0].ID != mackereltest.NewHost || hosts[0].Name != name ||
		!slices.Equal(hosts[0].Checks, slices.Sorted(maps.Keys(r.checks))) {
		t.Errorf("hosts: %+v", hosts)
	}
}

// checkGraphs compares the definitions that came with those that were printed.
func (r *rig) checkGraphs(t *testing.T) {
	t.Helper()
	var want []mackereltest.Graph
	for name, texts := range r.saw(t, "graphs", false) {
		defs, bad := agenttest.ParseDefinitions(texts[0])
		if len(texts) != 1 || len(bad) > 0 {
			t.Errorf("%s: %d runs, %q", name, len(texts), bad)
		}
		for key, g := range defs {
			out := mackereltest.Graph{Name: "custom." + key, Label: g.Label, Unit: cmp.Or(g.Unit, "float")}
			for _, m := range g.Metrics {
				out.Lines = append(out.Lines, mackereltest.Line{Name: out.Name + "." + m.Name, Label: m.Label, Stacked: m.Stacked})
			}
			want = append(want, out)
		}
	}
	got := r.api.Graphs()
	for _, graphs := range [][]mackereltest.Graph{got, want} {
		slices.SortFunc(graphs, func(a, b mackereltest.Graph) int { return strings.Compare(a.Name, b.Name) })
	}
	if len(got) < 6 || !reflect.DeepEqual(got, want) {
		t.Errorf("graphs came\n%+v\nprinted were\n%+v", got, want)
	}
}

// checkReports compares what checks reported with what they printed. The agent reports
// at once what is not well; what is well it reports within a minute.
func (r *rig) checkReports(t *testing.T) {
	t.Helper()
	printed := r.saw(t, "check", false)
	statuses := map[string]string{"good": "OK", "command": "WARNING", "lastlog": "CRITICAL", "connections": "CRITICAL", "host": "CRITICAL"}
	for _, p := range r.api.Reports() {
		if p.Status != statuses[p.Name] || !slices.Contains(printed[p.Name], p.Message) || p.Host != mackereltest.NewHost {
			t.Errorf("report %+v\nprinted %q", p, printed[p.Name])
		}
		if p.Name == "host" && !strings.Contains(p.Message, "standby") {
			t.Errorf("the agent has set no status: %q", p.Message)
		}
	}
}

// checkValues waits for the first minute.
func (r *rig) checkValues(t *testing.T) {
	t.Helper()
	began := time.Now()
	limit := time.After(3 * time.Minute)
	for len(r.api.Values()) == 0 || len(reported(r.api)) < len(r.checks) {
		select {
		case <-limit:
			t.Fatal("no values came")
		case <-time.After(time.Second):
		}
	}
	t.Logf("values came after %s", time.Since(began).Round(time.Second))
	printed := map[string][]posted{}
	for name, texts := range r.saw(t, "values", false) {
		for _, text := range texts {
			for key, v := range expected(t, name, text) {
				printed[key] = append(printed[key], v)
			}
		}
	}
	came := map[string]bool{}
	for _, v := range r.api.Values() {
		if !strings.HasPrefix(v.Name, "custom.") {
			continue
		}
		came[v.Name] = true
		if !slices.ContainsFunc(printed[v.Name], func(p posted) bool { return p.Value == v.Value && (p.Time == nil || *p.Time == v.Time) }) {
			t.Errorf("%+v came, printed was %+v", v, printed[v.Name])
		}
	}
	for _, key := range []string{"custom.command-status.exit-code.failing", "custom.graphite-carbon.cache.metricsReceived.a", "custom.mysql-lite.threads.running", "custom.process-status.mem_test.used"} {
		if !came[key] {
			t.Errorf("no %s among %q", key, slices.Sorted(maps.Keys(came)))
		}
	}
}
