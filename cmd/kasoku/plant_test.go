package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/test/mackereltest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// plantedText is in all that the commands below read, and is the value of the panics. It
// must not be in a bug note.
const plantedText = "hunter2content"

// A planting is a command in each of whose parts a panic is planted, one after the
// other. Which parts there are is what the command enters when nothing is planted: a new
// part is tested without being listed here.
type planting struct {
	args string   // split at blanks
	file string   // that the command writes and that is part of its answer
	then string   // a command whose answer says what args has lost: args records
	only []string // kinds of parts; none: all

	state string // directory of journals; empty: of its own
	anew  bool   // parts that another command entered are planted here, too
	files map[string]string
	env   []string // what else is in the environment
}

// plantings are those that only read: they run in this process. @WEB is the port of an nginx:
// without a word of which service is meant, init lists what other tests have started.
var plantings = []planting{
	{args: "show before.kasoku"},
	{args: "show before.kasoku -o json", only: []string{contain.Output}},
	{args: "show before.kasoku -o tsv", only: []string{contain.Output}},
	{args: "show before.kasoku -o md", only: []string{contain.Section}},
	{args: "show before.kasoku --html page.html", file: "page.html", only: []string{contain.Section}},
	{args: "show before.kasoku --configs"},
	{args: "compare before.kasoku after.kasoku"},
	{args: "compare before.kasoku after.kasoku -o json", only: []string{contain.Output}},
	{args: "diagnose before.kasoku"},
	{args: "list"},
	{args: "merge before.kasoku other.kasoku --out merged.kasoku", file: "merged.kasoku", only: []string{contain.Table}},
	{args: "advise before.kasoku"},
	{args: "accesslog a.log b.log"},
	{args: "accesslog a.log b.log -o json", only: []string{contain.Output}},
	{args: "accesslog a.log b.log -o csv", only: []string{contain.Output}},
	{args: "accesslog diff a.log b.log"},
	{args: "slowlog slow.log slower.log"},
	{args: "slowlog slow.log slower.log -o json", only: []string{contain.Output}},
	{args: "slowlog diff slow.log slower.log"},
	{args: "digest before.json after.json"},
	{args: "export before.kasoku --to csv"},
	{args: "export before.kasoku --to json"},
	{args: "export before.kasoku --to openmetrics"},
	{args: "watch before.kasoku --lines"},
	{args: "init --port @WEB --out new.toml", file: "new.toml", only: []string{contain.Check}},
	{args: "doctor", only: []string{contain.Check}},
}

// recordings are those that measure: each planted panic is a process of its own.
var recordings = []planting{
	{args: "record --for 400ms --interval 100ms --accesslog a.log --applog app.log --out new.kasoku", then: "show new.kasoku",
		only: []string{contain.Source, contain.Step, contain.Goroutine, contain.Log}},
	{args: "attack -target GET_@URL -rate 20 -duration 300ms", only: []string{contain.Step, contain.Engine, contain.Goroutine}},
	{args: "export --live --to csv --interval 100ms --for 400ms", only: []string{contain.Output, contain.Goroutine, contain.Source}},
	{args: "attack -target GET_@URL -engine nethttp -rate 20 -duration 300ms", anew: true, only: []string{contain.Engine, contain.Goroutine}},
	{args: "attack -target GET_@URL -engine nethttp -rate 0 -max-workers 2 -duration 300ms", only: []string{contain.Engine}},
	{args: "attack --lazy -targets targets.txt -rate 20 -duration 300ms", only: []string{contain.Engine},
		files: map[string]string{"targets.txt": strings.Repeat("GET @URL/\n", 20)}},
	{args: "record --out new.kasoku -- echo done", then: "show new.kasoku", only: []string{contain.Goroutine}},
	{args: "export fresh.kasoku --to mackerel --service " + mackereltest.Service + " --host-id @RUNHOST=2eQGEaLxibb",
		only: []string{contain.Output, contain.Goroutine}},
	{args: "export --live --to mackerel --interval 100ms --for 400ms --service " + mackereltest.Service + " --host-id @HOST=2eQGEaLxibb",
		only: []string{contain.Output, contain.Goroutine}},
	{args: "watch --lines --for 2s", only: []string{contain.Panel, contain.Step}},
}

// filledRun is a recording in which nothing is empty: each list has two entries.
func filledRun(label string) *kasoku.Recording {
	rec := &kasoku.Recording{}
	fill(reflect.ValueOf(rec).Elem(), "")
	rec.Run.ID, rec.Run.Label, rec.Run.State = "run-"+label, label, kasoku.Finished
	rec.Run.Started, rec.Run.Length = time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC), 20*time.Second
	return rec
}

// fill gives a value and all in it something.
func fill(v reflect.Value, name string) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)))
		return
	case reflect.TypeFor[*histogram.Histogram]():
		h := histogram.New()
		h.Record(time.Millisecond)
		v.Set(reflect.ValueOf(h))
		return
	case reflect.TypeFor[kasoku.Interval]():
		v.Set(reflect.ValueOf(kasoku.Interval{From: time.Second, To: 11 * time.Second}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name + plantedText)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), v.Type().Field(i).Name)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), fmt.Sprint(name, i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, name)
		fill(value, name)
		v.SetMapIndex(key, value)
	}
}

// readableRuns makes the runs that the commands read in a directory.
func readableRuns(t *testing.T, dir string) {
	t.Helper()
	for _, label := range []string{"before", "after", "other"} {
		rec := filledRun(label)
		rec.Run.Hosts = rec.Run.Hosts[:1]
		if label == "other" { // one that watched
			rec.Steps, rec.Seconds, rec.Load = nil, nil, nil
			rec.Run.Hosts[0].Name, rec.Run.Hosts[0].BootID = label, label
		}
		if err := store.Write(filepath.Join(dir, label+store.Extension), rec); err != nil {
			t.Fatal(err)
		}
	}
}

// readableTexts makes what else the commands read.
func readableTexts(t *testing.T, dir string) {
	t.Helper()
	request := "time:2026-11-22T12:00:0%d+00:00\tmethod:GET\turi:/%s\tstatus:200\tsize:1\treqtime:0.1\n"
	digests := `{"schema": 1, "kind": "digests", "server": "MariaDB 10.11", "at": "2026-11-22T12:00:0%dZ", "over_s": null, "lost": 0, "classes": [` +
		`{"id": "1", "database": "", "text": "SELECT %s", "calls": %d, "total_s": 1}]}`
	slow := "# Time: 2026-11-22T12:00:00.000000Z\n# User@Host: a[a] @ localhost []  Id: 1\n" +
		"# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSELECT '" + plantedText + "';\n"
	for name, text := range map[string]string{
		"a.log":    fmt.Sprintf(request, 1, "a"+plantedText) + fmt.Sprintf(request, 2, "b"),
		"b.log":    fmt.Sprintf(request, 3, plantedText),
		"slow.log": slow, "slower.log": strings.ReplaceAll(slow, "0.1", "1.5"),
		"kasoku.toml": "project = 'shop'\n", // so that no server of this machine is looked for
		"app.log":     "2026/11/22 12:00:00 panic: " + plantedText + "\n",
		"before.json": fmt.Sprintf(digests, 0, plantedText, 1),
		"after.json":  fmt.Sprintf(digests, 1, plantedText, 5),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// freshHost is the host of the run that fresh makes.
const freshHost = "fresh"

// fresh makes a run of the last minute, as Mackerel takes it.
func fresh(t *testing.T, dir string) {
	t.Helper()
	rec := filledRun(freshHost)
	rec.Run.Hosts, rec.Run.Started = rec.Run.Hosts[:1], time.Now().Add(-time.Minute).Truncate(time.Second)
	rec.Run.Hosts[0].Name = freshHost
	for _, name := range []string{"load.1", "mem.free"} {
		s := kasoku.Series{Key: kasoku.Key{Host: freshHost, Source: "host", Name: name}, Unit: "count"}
		for at := range 20 {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(at) * time.Second, Value: float64(at)})
		}
		rec.Series = append(rec.Series, s)
	}
	if err := store.Write(filepath.Join(dir, "fresh"+store.Extension), rec); err != nil {
		t.Fatal(err)
	}
}

// A planted answer is what came of a command.
type answered struct {
	code           int
	stdout, stderr string
}

// inProcess runs a command here. at is called with each part that it enters.
func inProcess(args string, at func(contain.Part)) answered {
	defer contain.Forget()
	defer contain.Visit(at)()
	var out, errs bytes.Buffer
	e := &cli.Env{Name: "kasoku", Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(1e9, 0) }, Width: 200}
	code := run(e)
	return answered{code, out.String(), errs.String()}
}

// partsOf runs a command and returns the parts that it enters, in their order.
// and how often it enters each.
func partsOf(args string) (a answered, parts []contain.Part, times map[contain.Part]int) {
	var mu sync.Mutex
	times = map[contain.Part]int{}
	a = inProcess(args, func(p contain.Part) {
		mu.Lock()
		defer mu.Unlock()
		if times[p]++; times[p] == 1 {
			parts = append(parts, p)
		}
	})
	return a, parts, times
}

// planted returns what panics in a part: the first so many times that it is entered.
func planted(part contain.Part, most int) func(contain.Part) {
	var n atomic.Int64
	return func(at contain.Part) {
		if at == part && n.Add(1) <= int64(most) {
			panic("content: " + plantedText)
		}
	}
}

// TestPlantedReaders plants a panic in each part of each command that only reads. The
// command ends with 3, names the part, and the rest of its answer is there. Under -short
// it is the first part of each kind.
func TestPlantedReaders(t *testing.T) {
	dir := t.TempDir()
	readableRuns(t, dir)
	readableTexts(t, dir)
	t.Chdir(dir)
	web := 0
	if !testing.Short() {
		plants.begin(t)
		web = sandboxtest.Nginx(t, sandbox.NginxOptions{}).Port
	}
	entered := map[contain.Part]bool{}
	for _, p := range plantings {
		name := p.args
		if p.args = strings.ReplaceAll(name, "@WEB", strconv.Itoa(web)); p.args != name && web == 0 {
			continue // -short starts no server
		}
		t.Run(name, func(t *testing.T) {
			whole, parts, times := partsOf(p.args)
			if whole.code == cli.ExitUsage || len(parts) < 2 {
				t.Fatalf("exit %d, parts %v: %s", whole.code, parts, whole.stderr)
			}
			whole.stdout += p.written(t)
			kinds := map[string]bool{} // of the parts so far
			for _, part := range parts {
				known := entered[part] && part.Kind == contain.Table // the reading of a run is the same
				entered[part] = true
				if known || len(p.only) > 0 && !slices.Contains(p.only, part.Kind) {
					continue
				}
				if ofHost[part.String()] != "" {
					continue
				}
				if testing.Short() && kinds[part.Kind] {
					continue
				}
				kinds[part.Kind] = true
				plants.add(part)
				if !turn.Takes(p.name() + part.String()) {
					continue
				}
				got := inProcess(p.args, planted(part, math.MaxInt))
				got.stdout += p.written(t)
				checkNote(t, part, got)
				if times[part] > 1 { // the rest of it is to be there, too
					got = inProcess(p.args, planted(part, 1))
					got.stdout += p.written(t)
					checkNote(t, part, got)
				}
				checkRest(t, p.args, part, whole, got)
			}
		})
	}
	for _, r := range rules.All() {
		if !entered[contain.Part{Kind: contain.Rule, Name: r.ID()}] {
			t.Errorf("rule %s is not contained", r.ID())
		}
	}
}

// written returns what the command wrote into its file, and removes it.
func (p planting) written(t *testing.T) string {
	t.Helper()
	if p.file == "" {
		return ""
	}
	defer os.Remove(p.file)
	if strings.HasSuffix(p.file, store.Extension) {
		contain.Forget()
		return inProcess("show "+p.file+" -o md", func(contain.Part) {}).stdout
	}
	b, err := os.ReadFile(p.file)
	if err != nil {
		return "" // the answer says why
	}
	return string(b)
}

// alone are the parts without which nothing of an answer can be there, each with why; of
// one command, or of all.
var alone = map[string]string{
	"command":    "the last resort: all of the command",
	"log bytes":  "reads all logs",
	"step start": "nothing is recorded yet",
	"accesslog a.log b.log -o csv: output table of endpoints": "there is one table",
	"accesslog diff a.log b.log: log format of an access log": "there are two sides or nothing to compare",
	"attack --lazy: engine targets":                           "there is no target",
	"attack -target: engine shard":                            "makes all requests",
	"attack -target: engine user":                             "all users panic, and they make all requests",
	"attack -target: engine results":                          "writes all answers",
	"attack -target: engine count of answers":                 "takes all answers",
	"export --live: goroutine output of values":               "writes all values",
	"probe --targets: step count of a probe":                  "counts all statements",
	"watch --lines: panel line":                               "there is little else",
	"watch --lines: panel update":                             "brings all data",
}

// unsaid are the parts whose loss the answer itself does not name: standard error and the
// exit code alone do. Each has why.
var unsaid = map[string]string{
	"accesslog a.log b.log: log format of an access log": "the look for the zone is lost; the table has its own",
	"step description of a run":                          "a name is looked for among all runs; list says it",
	"output series":                                      "there are values alone in the answer",
	"output series of load":                              "as above",
	"output series of access":                            "as above",
	"check profiles of a program":                        "it is a program without profiles",
	"output frame":                                       "as above",
	"source recorded runs":                               "values of loads that others record, of which there are none",
	"goroutine reading of another process":               "it is a file that cannot be read",
	"record --for: step growth of logs":                  "the requests of this log have fine times",
	"record --for: step plan of a statement":             "as of explain",
	"record --for: step tables of a statement":           "as of explain",
	"record --for: log application log":                  "nothing was written into it meanwhile",
	"goroutine watch of the guard":                       "the guard is there; only that it is started again is lost",
	"goroutine watch of a command":                       "the guard ends by itself",
	"explain slow.log: log slow log":                     "a warning on standard error has the lines that were dropped",
	"explain slow.log: log names of a slow log":          "as above",
	"explain slow.log: log entries of a slow log":        "as above",
	"explain slow.log: log batch of a slow log":          "as above",
	"explain slow.log: log table of a slow log":          "as above",
	"explain slow.log: step plan of a statement":         "the note of the plan begins with it, and is cut to the terminal's width",
	"explain slow.log: step tables of a statement":       "the indexes of a table are missing; the plan is there",
	"probe --targets: step request of a probe":           "the line of the endpoint begins with it, and is cut to the terminal's width",
	"export fresh.kasoku: output minutes":                "values are posted; there is no answer but on standard error",
	"export fresh.kasoku: output annotations":            "as above",
	"attack -target: engine answer":                      "the answer is results, for another program; each such one has an error",
	"attack -target: step progress":                      "results alone are written",
	"watch --lines: panel load":                          "lines have no notes; the screen has",
	"watch --lines: panel statements":                    "as above",
	"watch --lines: panel findings":                      "as above",
	"watch --lines: panel samples":                       "as above",
	"watch --lines: step ticks":                          "as above",
}

// stackFrame is a function of a bug note.
var stackFrame = regexp.MustCompile(`\w+\.\S+ \(\w+\.go:\d+\)`)

// bugNote is all that standard error has about a bug.
var bugNote = regexp.MustCompile(`(?m)^kasoku: (error: .*a bug of kasoku|hint: please report these lines).*`)

// checkNote checks what a command reports of a part that panicked.
func checkNote(t *testing.T, part contain.Part, got answered) {
	t.Helper()
	name := part.String()
	if got.code != cli.ExitCouldNot {
		t.Errorf("%s: exit %d", name, got.code)
	}
	if !strings.Contains(got.stderr, name+": a bug of kasoku: ") {
		t.Errorf("%s: no bug note in %q", name, got.stderr)
	}
	if !stackFrame.MatchString(got.stderr) {
		t.Errorf("%s: no stack in %q", name, got.stderr)
	}
	if notes := bugNote.FindAllString(got.stderr, -1); len(notes) < 2 || strings.Contains(fmt.Sprint(notes), plantedText) {
		t.Errorf("%s: content, or no note, in %q", name, notes)
	}
}

func init() {
	if os.Geteuid() != 0 {
		unsaid["record --for: goroutine output of a command"] = "an ordinary user's recording runs git alone, whose revision is missing then"
	}
}

// checkRest checks that an answer says what is lost, and has the rest.
func checkRest(t *testing.T, args string, part contain.Part, whole, got answered) {
	t.Helper()
	name := part.String()
	if alone[name] != "" || alone[args+": "+name] != "" {
		return
	}
	label := name + ": " + contain.Phrase
	if part.Kind == contain.Log {
		label = contain.Phrase // why lines are dropped
	}
	if !strings.Contains(flat(got.stdout), label) && unsaid[name] == "" && unsaid[args+": "+name] == "" {
		t.Errorf("%s: the answer does not name what is lost", name)
	}
	if kept, all := commonLines(whole.stdout, got.stdout); kept == 0 && all > 0 {
		t.Errorf("%s: %d lines of %d are there; exit %d: %.2000s", name, kept, all, got.code, got.stderr)
	}
}

// flat is a text without its line breaks.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// commonLines counts the lines of whole that are in part, too.
func commonLines(whole, part string) (kept, all int) {
	for l := range strings.Lines(whole) {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		all++
		if strings.Contains(part, l) {
			kept++
		}
	}
	return kept, all
}

// TestPlantedRecorders plants a panic in each part of each command that measures, each in
// a process of its own.
func TestPlantedRecorders(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a recorder for each part of it")
	}
	t.Parallel()
	plants.begin(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }))
	t.Cleanup(server.Close)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	api := mackereltest.New(t, map[string]string{host: "2eQGEaLxibb"})
	before := map[contain.Part]bool{}
	for _, p := range recordings {
		words := strings.NewReplacer("@URL", server.URL, "@HOST", host, "@RUNHOST", freshHost)
		p.args = words.Replace(p.args)
		for name, text := range p.files {
			p.files[name] = words.Replace(text)
		}
		p.env = []string{"MACKEREL_APIKEY=" + mackereltest.Key, "MACKEREL_APIBASE=" + api.URL}
		t.Run(p.name(), func(t *testing.T) { p.plantAll(t, before) })
	}
}

// TestPlantedDatabase plants a panic in each part that a recording has with a database and
// not without. In the end what was changed on the server is back, also where the panic is
// in that.
func TestPlantedDatabase(t *testing.T) {
	t.Parallel()
	plants.begin(t)
	srv := sandboxtest.MariaDB(t, sandbox.Options{Vars: map[string]string{"performance_schema": "ON"}})
	db := sandboxtest.DB(t, srv, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)", "SET GLOBAL long_query_time = 3.25")
	first := readSettings(t, db)
	p := planting{args: "record --for 400ms --interval 100ms --out new.kasoku", then: "show new.kasoku",
		only: []string{contain.Source, contain.Step, contain.Goroutine, contain.Log}}
	before := map[contain.Part]bool{}
	_, parts := p.inDir(t, contain.Part{})
	for _, part := range parts {
		before[part] = true
	}
	p.state = t.TempDir() // shared: these recorders hold the settings together
	p.args += " --count-rows shop.t --digests --mysql " + srv.DSN("", "shop")
	p.plantAll(t, before)
	logged := statementsOfNewSessions(t, srv)
	p.args = strings.Replace(p.args, "400ms", "2s", 1) + " --accesslog a.log --join table"
	p.plantAll(t, before)
	logged()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM shop.t").Scan(&n); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		fmt.Fprintln(w, n)
	}))
	t.Cleanup(web.Close)
	dsn := " --dsn " + srv.DSN("", "shop")
	for _, p := range []planting{
		{args: "explain slow.log" + dsn},
		{args: "digest --for 200ms" + dsn, only: []string{contain.Step}},
		{args: "probe --targets targets.txt --requests 3" + dsn, only: []string{contain.Step}, state: t.TempDir(),
			files: map[string]string{"targets.txt": "GET " + web.URL + "/a\n\nGET " + web.URL + "/b\n"}},
	} {
		t.Run(p.name(), func(t *testing.T) { p.plantAll(t, map[contain.Part]bool{}) })
	}
	if !eventually(func() bool { return maps.Equal(readSettings(t, db), first) }) {
		t.Errorf("settings are %v, were %v", readSettings(t, db), first)
	}
}

// statementsOfNewSessions sends statements, each in a session of its own, which the slow log
// has when it was just switched on; stop ends that.
func statementsOfNewSessions(t *testing.T, srv *sandbox.Server) (stop func()) {
	t.Helper()
	db := sandboxtest.DB(t, srv, "shop")
	db.SetMaxIdleConns(-1)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			_ = db.QueryRowContext(ctx, "SELECT COUNT(*), SLEEP(0.01) FROM shop.t").Scan(new(int), new(int)) // one that the end breaks off
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// name is the command, without what is of this machine.
func (p planting) name() string {
	words := strings.Fields(p.args)
	return strings.Join(words[:min(len(words), 2)], " ")
}

// plantAll plants a panic in each part that the command enters, but for those of the
// recorder that were entered before, and adds them.
func (p planting) plantAll(t *testing.T, before map[contain.Part]bool) {
	t.Helper()
	whole, parts := p.inDir(t, contain.Part{})
	if len(parts) < 2 {
		t.Fatalf("exit %d, parts %v: %s", whole.code, parts, whole.stderr)
	}
	var wg sync.WaitGroup
	room := make(chan struct{}, 12) // they wait more than they work
	for _, part := range parts {
		if before[part] && !p.anew && part.Kind != contain.Log || len(p.only) > 0 && !slices.Contains(p.only, part.Kind) ||
			ofHost[part.String()] != "" {
			continue
		}
		before[part] = true
		plants.add(part)
		if !turn.Takes(p.name() + part.String()) {
			continue
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			got, entered := p.inDir(t, part)
			if p.state != "" && !slices.Contains(entered, part) {
				return // another recorder that holds the settings has done it
			}
			checkNote(t, part, got)
			checkRest(t, p.name(), part, whole, got)
		})
	}
	wg.Wait()
}

// words splits arguments at blanks; a low line in one of a URL stands for a blank.
func words(args string) []string {
	out := strings.Fields(args)
	for i := range out {
		out[i] = strings.Replace(out[i], "GET_", "GET ", 1)
	}
	return out
}

// plantedWithin is how long a command may take that loses a part. A dozen run at once, beside
// other tests; one that waits for what a panic left out never ends.
const plantedWithin = 4 * patience

// inDir runs the command in a directory of its own, with a panic planted in a part, or
// without one, and then returns the parts that it enters.
func (p planting) inDir(t *testing.T, part contain.Part) (a answered, parts []contain.Part) {
	t.Helper()
	dir := t.TempDir()
	readableTexts(t, dir)
	if strings.Contains(p.args, freshHost+store.Extension) {
		fresh(t, dir)
	}
	for name, text := range p.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(append(os.Environ(), p.env...), "KASOKU_STATE="+cmp.Or(p.state, filepath.Join(dir, "state")), "TMPDIR="+dir)
	list := filepath.Join(dir, "parts")
	run := func(args string, plant ...string) (a answered) {
		ctx, cancel := context.WithTimeout(t.Context(), plantedWithin)
		defer cancel()
		cmd := exec.CommandContext(ctx, "planted", words(args)...)
		cmd.Dir, cmd.Env = dir, append(env, plant...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		code, err := exitStatus(cmd.Run())
		if err != nil {
			t.Error(err)
		}
		return answered{code, out.String(), errs.String()}
	}
	if part.Kind == "" {
		a = run(p.args, "PARTS="+list)
	} else {
		a = run(p.args, "PARTS="+list, "PLANT="+part.Kind+"/"+part.Name)
	}
	if p.then != "" {
		a.stdout += run(p.then).stdout
	}
	entered, _ := os.ReadFile(list)
	return a, enteredParts(string(entered))
}

// enteredParts reads what plantedMain wrote, each part once.
func enteredParts(lines string) (parts []contain.Part) {
	for l := range strings.Lines(lines) {
		kind, name, _ := strings.Cut(strings.TrimSpace(l), "/")
		if part := (contain.Part{Kind: kind, Name: name}); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}
