package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/plugin"
)

// A bench runs a plugin again and again on a clock of its own.
type bench struct {
	p         plugin.Plugin
	stat      map[string]float64
	err       error
	now       time.Time
	env       map[string]string
	out, errs bytes.Buffer
}

func newBench(t *testing.T, prefix string, graphs ...plugin.Graph) *bench {
	b := &bench{now: time.Unix(1_800_000_000, 0), env: map[string]string{"MACKEREL_PLUGIN_WORKDIR": t.TempDir()}}
	b.p = plugin.Plugin{
		Prefix: prefix, Graphs: graphs, Args: []string{"/opt/mackerel-plugin-x", "-H", "db"},
		Fetch: func(context.Context) (map[string]float64, error) { return b.stat, b.err },
		Out:   &b.out, Err: &b.errs,
		Getenv: func(name string) string { return b.env[name] },
		Now:    func() time.Time { return b.now },
	}
	return b
}

func (b *bench) run(t *testing.T) (out, errs string) {
	t.Helper()
	b.out.Reset()
	b.errs.Reset()
	if err := b.p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b.out.String(), b.errs.String()
}

func TestValues(t *testing.T) {
	b := newBench(t, "pre",
		plugin.Graph{Key: "g", Metrics: []plugin.Metric{{Name: "whole"}, {Name: "part"}, {Name: "missing"}, {Name: "scaled", Scale: 1024}, {Name: "nan"}, {Name: "inf"}}},
		plugin.Graph{Metrics: []plugin.Metric{{Name: "alone"}, {Name: "huge"}, {Name: "bad name"}}},
	)
	b.stat = map[string]float64{"whole": -3, "part": 0.5, "scaled": 1.5, "nan": math.NaN(), "inf": math.Inf(1), "alone": 1 << 40, "huge": 1e19, "other": 1, "bad name": 1}
	out, errs := b.run(t)
	want := strings.Join([]string{
		"pre.g.whole\t-3\t1800000000", "pre.g.part\t0.500000\t1800000000", "pre.g.scaled\t1536\t1800000000",
		"pre.alone\t1099511627776\t1800000000", "pre.huge\t10000000000000000000.000000\t1800000000", "",
	}, "\n")
	if out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	if want := "pre.g.nan: NaN is left out\npre.g.inf: +Inf is left out\n\"pre.bad name\" is no name of a metric: left out\n"; errs != want {
		t.Errorf("stderr\n%swant\n%s", errs, want)
	}
	if files, _ := os.ReadDir(b.env["MACKEREL_PLUGIN_WORKDIR"]); len(files) > 0 {
		t.Errorf("a state without a counter: %v", files)
	}
}

func TestCounters(t *testing.T) {
	b := newBench(t, "pre", plugin.Graph{Key: "g", Metrics: []plugin.Metric{{Name: "c", Diff: true}, {Name: "k", Diff: true, Scale: 0.5}, {Name: "gauge"}}})
	for _, step := range []struct {
		after     time.Duration
		c, k      float64
		out, errs string
	}{
		{0, 100, 10, "pre.g.gauge 1", "c does not exist at last fetch"},
		{500 * time.Millisecond, 100, 10, "", "recently"},
		{time.Minute, 160, 20, "pre.g.c 60,pre.g.k 5,pre.g.gauge 1", ""},
		{30 * time.Second, 161, 20, "pre.g.c 2,pre.g.k 0,pre.g.gauge 1", ""},
		{time.Minute, 5, 50, "pre.g.k 15,pre.g.gauge 1", "c: counter seems to be reset"}, // not 0
		{7 * time.Minute, 12, 50, "pre.g.c 1,pre.g.k 0,pre.g.gauge 1", ""},
		{601 * time.Second, 90, 99, "pre.g.c 0,pre.g.k 0,pre.g.gauge 1", "c: too long duration"},
		{-2 * time.Hour, 90, 99, "pre.g.gauge 1", "from the future"},
		{time.Minute, 91, 99, "pre.g.c 1,pre.g.k 0,pre.g.gauge 1", ""},
	} {
		b.now = b.now.Add(step.after)
		b.stat = map[string]float64{"c": step.c, "k": step.k, "gauge": 1}
		out, errs := b.run(t)
		var got []string
		for line := range strings.Lines(out) {
			f := strings.Fields(line)
			got = append(got, f[0]+" "+f[1])
		}
		if strings.Join(got, ",") != step.out {
			t.Errorf("after %s: %q, want %q", step.after, got, step.out)
		}
		if !strings.Contains(errs, step.errs) || step.errs == "" && errs != "" {
			t.Errorf("after %s: stderr %q, want %q", step.after, errs, step.errs)
		}
	}
	// The name is that of go-mackerel-plugin: sha1 of "-H db".
	path := filepath.Join(b.env["MACKEREL_PLUGIN_WORKDIR"], "mackerel-plugin-pre-99c900216a9c51b60b80fe241b3ea81b6816b01c")
	if _, err := os.Stat(path); err != nil {
		files, _ := os.ReadDir(filepath.Dir(path))
		t.Errorf("no state file of the name: %v", files)
	}
}

// TestBrokenState: a counter then has no value before.
func TestBrokenState(t *testing.T) {
	for _, content := range []string{"", "{", `{"c":"x"}`, `{"c":1}`, `{"c":1,"_lastTime":1e300}`, "[]", "null"} {
		b := newBench(t, "pre", plugin.Graph{Metrics: []plugin.Metric{{Name: "c", Diff: true}, {Name: "gauge"}}})
		b.p.StateFile = filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(b.p.StateFile, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		b.stat = map[string]float64{"c": 5, "gauge": 1}
		if out, errs := b.run(t); out != "pre.gauge\t1\t1800000000\n" || !strings.Contains(errs, "state is ignored") {
			t.Errorf("%q: %q, stderr %q", content, out, errs)
		}
		b.now = b.now.Add(time.Minute)
		b.stat["c"] = 7
		if out, _ := b.run(t); !strings.HasPrefix(out, "pre.c\t2\t") {
			t.Errorf("%q, the next run: %q", content, out)
		}
	}
}

// TestNoState: where nothing can be kept, what is no counter is printed.
func TestNoState(t *testing.T) {
	b := newBench(t, "pre", plugin.Graph{Metrics: []plugin.Metric{{Name: "c", Diff: true}, {Name: "gauge"}}})
	b.env["MACKEREL_PLUGIN_WORKDIR"] = filepath.Join(t.TempDir(), "none")
	b.stat = map[string]float64{"c": 5, "gauge": 1}
	for range 2 {
		if out, errs := b.run(t); out != "pre.gauge\t1\t1800000000\n" || !strings.Contains(errs, "the counters are not kept for the next run: ") {
			t.Errorf("%q, stderr %q", out, errs)
		}
	}
}

func TestWildcards(t *testing.T) {
	b := newBench(t, "pre",
		plugin.Graph{Key: "db.#", Metrics: []plugin.Metric{{Name: "rows"}, {Name: "rows_read", Scale: 2}}},
		plugin.Graph{Key: "disk", Metrics: []plugin.Metric{{Name: "*", Diff: true}}},
	)
	b.stat = map[string]float64{"db.b.rows": 1, "db.a.rows": 2, "db.a.rows_read": 3, "db.x.y.rows": 9, "disk.sda": 5, "disk": 1, "db.c.rows_longer": 4}
	// As in the helper library a key may go on after the pattern, but it is printed once.
	want := "pre.db.a.rows 2,pre.db.b.rows 1,pre.db.c.rows_longer 4,pre.db.a.rows_read 6"
	for _, w := range []string{want, want + ",pre.disk.sda 0"} {
		out, _ := b.run(t)
		var got []string
		for line := range strings.Lines(out) {
			f := strings.Fields(line)
			got = append(got, f[0]+" "+f[1])
		}
		if strings.Join(got, ",") != w {
			t.Errorf("got %q, want %q", got, w)
		}
		b.now = b.now.Add(time.Minute)
	}
}

func TestDefinitions(t *testing.T) {
	b := newBench(t, "my-app.sub_part",
		plugin.Graph{Unit: plugin.Integer, Metrics: []plugin.Metric{{Name: "90pt"}, {Name: "us_sy.max", Label: "Max & <more>", Stacked: true, Diff: true, Scale: 3}}},
		plugin.Graph{Key: "disk.#.io", Label: "Disk", Unit: plugin.IOPS},
	)
	b.env[plugin.MetaEnv] = "1"
	b.err = errors.New("definitions do not fetch")
	got, _ := b.run(t)
	want := "# mackerel-agent-plugin\n" +
		`{"graphs":{"my-app.sub_part":{"label":"My-App Sub Part","unit":"integer","metrics":[{"name":"90pt","label":"90Pt","stacked":false},` +
		`{"name":"us_sy.max","label":"Max \u0026 \u003cmore\u003e","stacked":true}]},` +
		`"my-app.sub_part.disk.#.io":{"label":"Disk","unit":"iops","metrics":[]}}}` + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestOwnTimes: values of Values are printed as they are.
func TestOwnTimes(t *testing.T) {
	b := newBench(t, "pre")
	b.p.Fetch = nil
	b.p.Values = func(context.Context) ([]plugin.Value, error) {
		return []plugin.Value{{Name: "b", Value: 2, Float: true}, {Name: "a", Value: 2, Time: time.Unix(7, 0)}}, b.err
	}
	if out, _ := b.run(t); out != "pre.b\t2.000000\t1800000000\npre.a\t2\t7\n" {
		t.Errorf("got %q", out)
	}
	b.err = errors.New("down")
	b.out.Reset()
	if err := b.p.Run(t.Context()); err == nil || err.Error() != "fetch: down" || b.out.Len() > 0 {
		t.Errorf("a fetch that fails: %v, %q", err, &b.out)
	}
}

func TestSegment(t *testing.T) {
	if got := plugin.Segment("db-1.example.com:33\x1b06/ä"); got != "db-1_example_com_33_06__" {
		t.Errorf("got %q", got)
	}
}
