package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sh is a plugin of one line.
func sh(script string) []string { return []string{"/bin/sh", "-c", script} }

// A fakeTB keeps what a test would fail with.
type fakeTB struct {
	testing.TB
	errors []string
}

func (f *fakeTB) Helper() {}
func (f *fakeTB) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func TestAgent(t *testing.T) {
	a := New(t)
	points, r := a.Values(t, sh(`echo log >&2; [ "${MACKEREL_AGENT_PLUGIN_META-unset}" = "" ] && printf 'a.b\t1.5\t%s\n' $(date +%s); exit 3`)...)
	if len(points) != 1 || points[0].Name != "a.b" || points[0].Value != 1.5 || r.Stderr != "log\n" || r.ExitCode != 3 {
		t.Errorf("values: %v, %+v", points, r)
	}
	defs, _ := a.Definitions(t, sh(`[ "$MACKEREL_AGENT_PLUGIN_META" = 1 ] && echo '# mackerel-agent-plugin version=1' && echo '{"graphs":{"a.#":{"label":"A","metrics":[{"name":"b","label":"B"}]}}}'`)...)
	if missing := defs.Missing([]Point{{Name: "a.x.b"}, {Name: "a.b"}, {Name: "a.x.y.b"}, {Name: "a.x.bc"}}); !slices.Equal(missing, []string{"a.b", "a.x.y.b", "a.x.bc"}) {
		t.Errorf("missing: %q", missing)
	}
	for code, want := range map[int]Status{0: OK, 1: Warning, 2: Critical, 3: Unknown, 255: Unknown} {
		status, message, _ := a.Check(t, sh(fmt.Sprintf(`echo "$MACKEREL_PLUGIN_WORKDIR"; exit %d`, code))...)
		if status != want || message != a.WorkDir {
			t.Errorf("exit %d: %s %q, want %s", code, status, message, want)
		}
	}
	if status, message, _ := a.Check(t, filepath.Join(a.WorkDir, "none")); status != Unknown || !strings.Contains(message, "no such file") {
		t.Errorf("no program: %s %q", status, message)
	}
}

// TestFails: what the agent would drop fails the test.
func TestFails(t *testing.T) {
	for _, tt := range []struct {
		do   func(*Agent, testing.TB)
		want string
	}{
		{func(a *Agent, tb testing.TB) { a.Values(tb, sh("echo hello")...) }, "not a name, a value and a time"},
		{func(a *Agent, tb testing.TB) { a.Definitions(tb, sh("true")...) }, "bad first line"},
		{func(a *Agent, tb testing.TB) { a.Definitions(tb, sh("exit 1")...) }, "exit status is not 0"},
		{func(a *Agent, tb testing.TB) { a.Check(tb, sh("exit 1")...) }, "no message"},
		{func(a *Agent, tb testing.TB) { a.Check(tb, sh("printf '%02000d' 1")...) }, "longer than"},
		{func(a *Agent, tb testing.TB) { a.Values(tb, "/no/such/plugin") }, "no such file"},
		{func(a *Agent, tb testing.TB) { a.Timeout = 50 * time.Millisecond; a.Values(tb, "sleep", "60") }, "longer than the agent waits"},
	} {
		tb := &fakeTB{TB: t}
		tt.do(New(t), tb)
		if len(tb.errors) != 1 || !strings.Contains(tb.errors[0], tt.want) {
			t.Errorf("want %q, got %q", tt.want, tb.errors)
		}
	}
}

func TestParseValues(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for line, want := range map[string]string{
		"a.b-c_D9\t-1e3\t1800000000\n":         "",
		"a.b\t1\t1800000000":                   "no newline",
		"a.b 1 1800000000\n":                   "tabs",
		"a.b\t1\t1800000000\tx\n":              "not a name",
		"\n":                                   "not a name",
		"a b\t1\t1800000000\n":                 "not a name",
		"a/b\t1\t1800000000\n":                 "the name is not of",
		"custom.a\t1\t1800000000\n":            "custom.",
		"a\tx\t1800000000\n":                   "no number",
		"a\tNaN\t1800000000\n":                 "no number",
		"a\t1\t1800000000.5\n":                 "no second",
		"a\t1\t1799900000\n":                   "within 24h",
		"a\t1\t5\na\t1\t1800000000\n":          "within 24h",
		"# mackerel-agent-plugin\n{}\n":        "not a name",
		"a\t1\t1800000000\na\t2\t1800000000\n": "instead of",
		"a\t1\t1800000001\na\t2\t1800000000\n": "instead of",
		"a\t1\t1799999940\na\t2\t1800000000\n": "", // the older one is lost, as it should be
	} {
		_, bad := ParseValues(line, now)
		if got := strings.Join(bad, "\n"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestParseDefinitions(t *testing.T) {
	const head = "# mackerel-agent-plugin\n"
	one := func(key, graph string) string { return head + `{"graphs":{"` + key + `":{` + graph + `}}}` + "\n" }
	const good = `"label":"A","unit":"bytes/sec","metrics":[{"name":"b","label":"B"}]`
	for text, want := range map[string]string{
		one("a.*.c", good): "",
		"#mackerel-agent-plugin x version=1\n" + `{"graphs":{"a":{` + good + `}}}`: "",
		"# mackerel-agent-plugins\n{}":                                             "bad first line",
		"# mackerel-agent-plugin version=2\n{}":                                    "unknown version",
		head:                                                                       "EOF",
		head + "{}":                                                                "no graphs",
		one("a", good) + "x":                                                       "text after",
		one("a*", good):                                                            "whole segments",
		one("a..b", good):                                                          "whole segments",
		one("custom.a", good):                                                      "custom.",
		one("a", `"label":"A","unit":"percent","metrics":[{"name":"b","label":"B"}]`): "unknown unit",
		one("a", `"metrics":[{"name":"b","label":"B"}]`):                              "no label",
		one("a", `"label":"A"`):                                                               "no metrics",
		one("a", `"label":"A","metrics":[{"name":"b"}]`):                                      "metric \"b\" has no label",
		one("a", `"label":"A","metrics":[{"name":"b c","label":"B"}]`):                        "is no name",
		one("a", `"label":"A","metrics":[{"name":"b","label":"B"},{"name":"b","label":"C"}]`): "twice",
	} {
		_, bad := ParseDefinitions(text)
		if got := strings.Join(bad, "\n"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a\t1\t1800000000\n", "a b c\n", "# mackerel-agent-plugin\n" + `{"graphs":{"a":{"label":"A","metrics":[{"name":"*","label":"B"}]}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		points, bad := ParseValues(text, time.Unix(1_800_000_000, 0))
		if n := len(slices.Collect(strings.Lines(text))); len(points)+len(bad) != n {
			t.Errorf("%d lines, %d points and %d violations", n, len(points), len(bad))
		}
		defs, _ := ParseDefinitions(text)
		defs.Missing(points)
	})
}

func TestShow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page")
	t.Setenv("KASOKU_SHOW", path)
	Show(t, Run{Stdout: "b\n", Stderr: "a\n"}, "cmd -x")
	if got, _ := os.ReadFile(path); string(got) != "$ cmd -x\na\nb\n\n" {
		t.Errorf("got %q", got)
	}
}
