package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxMessage is how many characters of a check's message Mackerel keeps.
const maxMessage = 1024

// maxSkew is how far from now Mackerel takes a time.
const maxSkew = 24 * time.Hour

var (
	validName  = regexp.MustCompile(`^[-a-zA-Z0-9_.]+$`)
	validGraph = regexp.MustCompile(`^([-a-zA-Z0-9_]+|[*#])(\.([-a-zA-Z0-9_]+|[*#]))*$`)
	headline   = regexp.MustCompile(`^#\s*mackerel-agent-plugin\b(.*)`)
	units      = strings.Fields("float integer percentage seconds milliseconds bytes bytes/sec bits/sec iops")
)

// A Point is one value as the agent reads it.
type Point struct {
	Name   string // without "custom."
	Number string // as it was printed
	Value  float64
	Time   int64 // seconds since the epoch
}

// ParseValues reads the values that a plugin printed and reports what the agent, or
// Mackerel, would not take. Of several lines of one name the agent keeps the last one
// alone, so that must be the newest.
func ParseValues(out string, now time.Time) (points []Point, bad []string) {
	last := map[string]int64{}
	for line := range strings.Lines(out) {
		p, err := parsePoint(line, now)
		if before, ok := last[p.Name]; err == nil && ok && before >= p.Time {
			err = fmt.Errorf("the agent keeps this line instead of a newer one, or one of the same time, in front of it")
		}
		if err != nil {
			bad = append(bad, fmt.Sprintf("value %q: %v", line, err))
			continue
		}
		last[p.Name] = p.Time
		points = append(points, p)
	}
	return points, bad
}

// parsePoint reads one line.
func parsePoint(line string, now time.Time) (Point, error) {
	body, ended := strings.CutSuffix(line, "\n")
	fields := strings.Split(body, "\t")
	switch {
	case !ended:
		return Point{}, fmt.Errorf("no newline at the end")
	case len(strings.Fields(body)) != 3 || len(fields) != 3:
		return Point{}, fmt.Errorf("not a name, a value and a time with tabs between them")
	case !validName.MatchString(fields[0]):
		return Point{}, fmt.Errorf("the name is not of %s", validName)
	case strings.HasPrefix(fields[0], "custom."):
		return Point{}, fmt.Errorf("the agent puts custom. in front itself")
	}
	v, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return Point{}, fmt.Errorf("the value is no number")
	}
	at, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || time.Unix(at, 0).Sub(now).Abs() > maxSkew {
		return Point{}, fmt.Errorf("the time is no second within %s of now", maxSkew)
	}
	return Point{fields[0], fields[1], v, at}, nil
}

// Definitions are the graphs of a plugin by their keys.
type Definitions map[string]Graph

// A Graph is the definition of one graph.
type Graph struct {
	Label   string   `json:"label"`
	Unit    string   `json:"unit"`
	Metrics []Metric `json:"metrics"`
}

// A Metric is the definition of one line.
type Metric struct {
	Name    string `json:"name"`
	Label   string `json:"label"`
	Stacked bool   `json:"stacked"`
}

// ParseDefinitions reads graph definitions and reports what the agent, or Mackerel,
// would not take. With a violation of their form there are none.
func ParseDefinitions(out string) (defs Definitions, bad []string) {
	first, rest, ok := strings.Cut(out, "\n")
	m := headline.FindStringSubmatch(first)
	if !ok || m == nil {
		return nil, []string{fmt.Sprintf("definitions: bad first line %q", first)}
	}
	for field := range strings.FieldsSeq(m[1]) {
		if v, ok := strings.CutPrefix(field, "version="); ok && v != "1" {
			return nil, []string{fmt.Sprintf("definitions: unknown version %q", v)}
		}
	}
	var doc struct{ Graphs Definitions }
	d := json.NewDecoder(strings.NewReader(rest))
	if err := d.Decode(&doc); err != nil {
		return nil, []string{fmt.Sprintf("definitions: %v", err)}
	}
	if _, err := d.Token(); err != io.EOF {
		bad = append(bad, "definitions: text after the JSON")
	}
	if len(doc.Graphs) == 0 {
		bad = append(bad, "definitions: no graphs")
	}
	for key, g := range doc.Graphs {
		bad = append(bad, g.violations(key)...)
	}
	slices.Sort(bad)
	return doc.Graphs, bad
}

// violations describes what is wrong with one graph.
func (g Graph) violations(key string) (bad []string) {
	add := func(format string, args ...any) {
		bad = append(bad, fmt.Sprintf("graph %q: ", key)+fmt.Sprintf(format, args...))
	}
	switch {
	case !validGraph.MatchString(key):
		add("the key is no name with * and # as whole segments")
	case strings.HasPrefix(key, "custom."):
		add("the agent puts custom. in front itself")
	}
	if g.Unit != "" && !slices.Contains(units, g.Unit) {
		add("unknown unit %q", g.Unit)
	}
	if g.Label == "" {
		add("no label")
	}
	if len(g.Metrics) == 0 {
		add("no metrics")
	}
	names := map[string]bool{}
	for _, m := range g.Metrics {
		switch {
		case !validGraph.MatchString(m.Name):
			add("metric %q is no name", m.Name)
		case names[m.Name]:
			add("metric %q stands there twice", m.Name)
		case m.Label == "":
			add("metric %q has no label", m.Name)
		}
		names[m.Name] = true
	}
	return bad
}

// Missing returns the names of the points that no graph has a line for: Mackerel
// then draws one without label and unit.
func (d Definitions) Missing(points []Point) (names []string) {
	var lines []*regexp.Regexp
	for key, g := range d {
		for _, m := range g.Metrics {
			s := regexp.QuoteMeta(key + "." + m.Name)
			s = strings.NewReplacer(`\*`, `[-a-zA-Z0-9_]+`, `#`, `[-a-zA-Z0-9_]+`).Replace(s)
			lines = append(lines, regexp.MustCompile("^"+s+"$"))
		}
	}
	for _, p := range points {
		if !slices.ContainsFunc(lines, func(re *regexp.Regexp) bool { return re.MatchString(p.Name) }) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Names returns the names of points in their order.
func Names(points []Point) []string {
	out := make([]string, len(points))
	for i, p := range points {
		out[i] = p.Name
	}
	return out
}

// Find returns the value of a name, and whether it is there.
func Find(points []Point, name string) (float64, bool) {
	for _, p := range points {
		if p.Name == name {
			return p.Value, true
		}
	}
	return 0, false
}
