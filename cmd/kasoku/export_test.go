package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/mackereltest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// exported is a run that was just made, in a directory.
func exported(t *testing.T) (dir string, rec *kasoku.Recording) {
	t.Helper()
	dir = t.TempDir()
	kasokuIn(t, dir, "record", "--out", "a.kasoku", "--for", "1s", "--interval", "200ms")
	return dir, openForeign(t, filepath.Join(dir, "a.kasoku"))
}

// TestExportMackerel: a run's minutes and marks come to a strict server; the key is
// nowhere to be seen.
func TestExportMackerel(t *testing.T) {
	if testing.Short() {
		t.Skip("records for a second")
	}
	dir, rec := exported(t)
	s := mackereltest.New(t, map[string]string{rec.Run.Hosts[0].Name: "2eQGEaLxibb"})
	post := func(args ...string) (string, error) {
		cmd := exec.Command("kasoku", append([]string{"export", "a.kasoku", "--to", "mackerel"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "MACKEREL_APIKEY="+mackereltest.Key, "MACKEREL_APIBASE="+s.URL)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), mackereltest.Key) {
			t.Errorf("the key is in\n%s", out)
		}
		return string(out), err
	}
	out, err := post("--service", mackereltest.Service, "--role", mackereltest.Role)
	if err != nil || !strings.Contains(out, "annotations of shop") || len(s.Annotations()) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	named, ofHost := map[string]bool{}, map[string]bool{}
	for _, v := range s.Values() {
		if named[v.Name] = true; v.Host != "" {
			ofHost[v.Name] = true
		}
	}
	chosen := regexp.MustCompile(`(?m)^chosen  (\d+) of \d+ series of hosts, since Mackerel bills by metrics of a host: .*host\.cpu\.user.* --all posts all`)
	if m := chosen.FindStringSubmatch(out); m == nil || m[1] != strconv.Itoa(len(ofHost)/2) || len(ofHost) > 100 {
		t.Errorf("%d metrics of the host were posted, it says\n%s", len(ofHost), out)
	}
	all := map[string]bool{}
	if out, err := post("--all"); err != nil || strings.Contains(out, "chosen") {
		t.Errorf("--all: %v\n%s", err, out)
	}
	for _, v := range s.Values() {
		all[v.Name] = true
	}
	if len(all) <= len(named)+20 {
		t.Errorf("--all posts %d metrics, without it %d", len(all), len(named))
	}
	if !named["custom.kasoku.host.cpu.user.avg"] || !named["custom.kasoku.host.cpu.user.max"] || named["custom.kasoku.host.cpu.user.cpu0.avg"] {
		t.Errorf("posted %v", named)
	}
	if out, err := post("--service", "nosuch"); err == nil || !strings.Contains(out, "404") {
		t.Errorf("an unknown service: %v\n%s", err, out)
	}
	other := mackereltest.New(t, nil)
	s.URL = other.URL
	if out, err := post(); err == nil || !strings.Contains(out, "knows 0 hosts") || !strings.Contains(out, "--host-id") {
		t.Errorf("an unknown host: %v\n%s", err, out)
	}
}

// TestExportLivePrometheus: the page is there while it samples, and gone after Ctrl-C.
func TestExportLivePrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("samples this host")
	}
	r := startWith(t, "kasoku.toml", "project = 'x'\n", "export", "--live", "--to", "prometheus", "--listen", "127.0.0.1:0", "--interval", "100ms", "--config")
	at := regexp.MustCompile(`http://\S+/metrics`)
	var page string
	r.waitFor("page with the load", func() bool {
		resp, err := http.Get(at.FindString(r.said()))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		page = string(b)
		return err == nil && strings.Contains(page, "\nkasoku_host_load_1{")
	})
	if !strings.Contains(page, "\n# TYPE kasoku_host_cpu_user_seconds_total counter\n") {
		t.Errorf("the page is\n%.2000s", page)
	}
	r.interrupt(false)
	r.exits(cli.ExitGood, "metrics  http://")
	if _, err := http.Get(at.FindString(r.said())); err == nil {
		t.Error("the page is still there")
	}
}

// TestExportLiveCarbon: what is sampled comes to Carbon each tick; Ctrl-C sends what
// is left.
func TestExportLiveCarbon(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("starts carbon-cache")
	}
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{})
	r := startWith(t, "kasoku.toml", "project = 'x'\n", "export", "--live", "--to", "graphite", "--protocol", "pickle", "--address", c.PickleAddr(), "--prefix", "", "--only", "host.load.1,self", "--interval", "500ms", "--config")
	host := kasokuHost(t)
	r.waitFor("points in Carbon's file", func() bool {
		points, err := c.Points(host + ".host.load.1")
		return err == nil && len(points) >= 2
	})
	r.interrupt(false)
	r.exits(cli.ExitGood, "points to "+c.PickleAddr())
}

// TestExportLiveLoad: the load of a `kasoku attack` beside is in each live export, no
// request of it lost.
func TestExportLiveLoad(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("runs a load")
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer web.Close()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	api := mackereltest.New(t, map[string]string{name: "2eQGEaLxibb"})
	t.Setenv("MACKEREL_APIKEY", mackereltest.Key)
	t.Setenv("MACKEREL_APIBASE", api.URL)
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte("project = 'x'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	live := func(args ...string) *running {
		return startIn(t, dir, append([]string{"export", "--live", "--config", "kasoku.toml", "--only", "load,host.load.1"}, args...)...)
	}
	exports := []*running{
		live("--to", "csv", "--out", "live.csv"), live("--to", "json", "-o", "live.json"),
		live("--to", "prometheus", "--listen", "127.0.0.1:0"), live("--to", "graphite", "--address", c.LineAddr()),
		live("--to", "mackerel", "--service", mackereltest.Service, "--host-id", name+"=2eQGEaLxibb"),
	}
	exports[0].waitFor("exports that listen", func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "kasoku-*", "listen-*"))
		return len(files) == len(exports)
	})
	attack := exec.Command("kasoku", "attack", "-target", "GET "+web.URL+"/", "-rate", "50", "-duration", "4s", "-o", "text")
	attack.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := attack.CombinedOutput(); err != nil {
		t.Fatalf("attack: %v: %s", err, out)
	}
	at := regexp.MustCompile(`http://\S+/metrics`).FindString(exports[2].said())
	exports[2].waitFor("the load on the page", func() bool {
		resp, err := http.Get(at)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		return err == nil && strings.Contains(string(page), `kasoku_source_up{host="`+name+`",source="load"} 1`) &&
			regexp.MustCompile(`\nkasoku_load_requests_per_second\{host="[^"]+"\} [1-9]`).Match(page)
	})
	for _, r := range exports {
		r.interrupt(false)
		<-r.ended
		if r.err != nil || strings.Contains(r.said(), "of the load came") {
			t.Errorf("%v: %v\n%s", r.cmd.Args, r.err, r.said())
		}
	}
	wantRequests(t, filepath.Join(dir, "live.csv"), `(?m)^.*,load,,requests,([0-9]+),count/s$`)
	wantRequests(t, filepath.Join(dir, "live.json"), `"source":"load","entity":"","metric":"requests","value":([0-9]+),`)
	sum := 0.0
	sandboxtest.Until(t, "all requests in Carbon's file", func() bool {
		points, _ := c.Points("kasoku." + kasokuHost(t) + ".load.requests") // it may be in the making
		sum = 0
		for _, p := range points {
			sum += p.Value
		}
		return sum == 200
	})
	var names []string
	for _, v := range api.Values() {
		names = append(names, v.Host+" "+v.Name)
	}
	for _, want := range []string{" kasoku.load.requests.max", " kasoku.load.latency.p99.avg", "2eQGEaLxibb custom.kasoku.host.load.1.max"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s was posted: %q", want, names)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "kasoku-*", "*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestExportLiveRecorded: so is the load of a run that is recorded beside.
func TestExportLiveRecorded(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("records a run")
	}
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer web.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte("project = 'x'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startIn(t, dir, "export", "--live", "--config", "kasoku.toml", "--only", "load", "--to", "csv", "--out", "live.csv")
	r.waitFor("an export that listens", func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "kasoku-*", "listen-*"))
		return len(files) == 1
	})
	record := exec.Command("kasoku", "record", "--out", "run.kasoku", "--no-capture", "--", "kasoku", "attack", "-target", "GET "+web.URL+"/", "-rate", "50", "-duration", "4s")
	record.Dir, record.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	if out, err := record.CombinedOutput(); err != nil {
		t.Fatalf("record: %v: %s", err, out)
	}
	sandboxtest.Until(t, "the load in the table", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "live.csv"))
		return bytes.Count(text, []byte(",load,,requests,")) >= 4
	})
	r.interrupt(false)
	<-r.ended
	if r.err != nil {
		t.Errorf("%v\n%s", r.err, r.said())
	}
	wantRequests(t, filepath.Join(dir, "live.csv"), `(?m)^.*,load,,requests,([0-9]+),count/s$`)
}

// TestExportLiveProjects: of two loads at once, in the directories of two projects, one of
// them recorded, each export has its own alone; one that has none of its own takes one of
// them, and says whose.
func TestExportLiveProjects(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer web.Close()
	tmp := t.TempDir()
	project := func(named bool) string {
		dir := t.TempDir()
		if !named {
			return dir
		}
		if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte("project = 'x'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	type side struct {
		dir  string
		live *running
	}
	var sides []side
	for i := range 3 {
		dir := project(i < 2)
		args := []string{"export", "--live", "--only", "load", "--to", "csv", "-o", filepath.Join(dir, "live.csv")}
		if i < 2 {
			args = append(args, "--config", filepath.Join(dir, "kasoku.toml"))
		}
		sides = append(sides, side{dir, startIn(t, tmp, args...)})
	}
	if !eventually(func() bool {
		files, _ := filepath.Glob(filepath.Join(tmp, "kasoku-*", "listen-*"))
		return len(files) == len(sides)
	}) {
		t.Fatalf("not each export listens: %q, %q, %q",
			sides[0].live.said(), sides[1].live.said(), sides[2].live.said())
	}
	attack := []string{"kasoku", "attack", "-target", "GET " + web.URL + "/", "-duration", "4s", "-rate"}
	var made []*exec.Cmd
	for i, args := range [][]string{append(slices.Clone(attack), "50"),
		append([]string{"kasoku", "record", "--out", "run.kasoku", "--no-capture", "--"}, append(slices.Clone(attack), "20")...)} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = sides[i].dir, append(os.Environ(), "TMPDIR="+tmp)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		made = append(made, cmd)
	}
	for _, cmd := range made {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	sums := map[int]float64{}
	most := map[int]float64{}
	for i, s := range sides {
		s.live.interrupt(false)
		<-s.live.ended
		text, err := os.ReadFile(filepath.Join(s.dir, "live.csv"))
		if err != nil || s.live.err != nil {
			t.Fatal(err, s.live.err, s.live.said())
		}
		for _, m := range regexp.MustCompile(`(?m)^.*,load,,requests,([0-9]+),count/s$`).FindAllSubmatch(text, -1) {
			v, _ := strconv.ParseFloat(string(m[1]), 64)
			sums[i], most[i] = sums[i]+v, max(most[i], v)
		}
	}
	if sums[0] != 200 || sums[1] != 80 {
		t.Errorf("%v requests, want 200 and 80\n%s\n%s", sums, sides[0].live.said(), sides[1].live.said())
	}
	if (sums[2] != 200 && sums[2] != 80) || most[2] > 55 || !strings.Contains(sides[2].live.said(), "the load is that of "+sides[0].dir) &&
		!strings.Contains(sides[2].live.said(), "the load is that of "+sides[1].dir) {
		t.Errorf("one without a load of its own: %v requests, at most %v a second\n%s",
			sums[2], most[2], sides[2].live.said())
	}
}

// wantRequests finds the 200 requests of the load in a table.
func wantRequests(t *testing.T, file, row string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, m := range regexp.MustCompile(row).FindAllSubmatch(text, -1) {
		n, _ := strconv.Atoi(string(m[1])) // digits
		sum += n
	}
	if sum != 200 {
		t.Errorf("%s has %d requests, want 200:\n%s", file, sum, text)
	}
}

// kasokuHost is how this host stands in a path.
func kasokuHost(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(name, ".", "_")
}

// TestExportRunPage: a run's page is OpenMetrics with times.
func TestExportRunPage(t *testing.T) {
	if testing.Short() {
		t.Skip("records for a second")
	}
	dir, _ := exported(t)
	r := startIn(t, dir, "export", "--to", "prometheus", "--listen", "127.0.0.1:0", "a.kasoku")
	var page []byte
	var kind string
	r.waitFor("page", func() bool {
		resp, err := http.Get(regexp.MustCompile(`http://\S+/metrics`).FindString(r.said()))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		page, err = io.ReadAll(resp.Body)
		kind = resp.Header.Get("Content-Type")
		return err == nil
	})
	if !bytes.HasSuffix(page, []byte("\n# EOF\n")) || !strings.HasPrefix(kind, "application/openmetrics-text") {
		t.Errorf("%s\n%.500s", kind, page)
	}
	r.interrupt(false)
	r.exits(cli.ExitGood, "metrics  http://")
}
