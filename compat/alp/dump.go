package alp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/internal/private"
)

// A dumped is a class in the file of --dump. What alp calls the bytes of the
// request are those of the response.
type dumped struct {
	URI       string      `yaml:"uri"`
	Count     uint64      `yaml:"count"`
	Status1xx uint64      `yaml:"status1xx"`
	Status2xx uint64      `yaml:"status2xx"`
	Status3xx uint64      `yaml:"status3xx"`
	Status4xx uint64      `yaml:"status4xx"`
	Status5xx uint64      `yaml:"status5xx"`
	Method    string      `yaml:"method"`
	Times     dumpedStats `yaml:"response_time"`
	Body      dumpedStats `yaml:"request_body_bytes"`
}

type dumpedStats struct {
	Max         float64   `yaml:"max"`
	Min         float64   `yaml:"min"`
	Sum         float64   `yaml:"sum"`
	Percentiles []float64 `yaml:"percentiles"` // all values
}

// loadProfile reads the file of --dump, of alp or of ours.
func loadProfile(path string) (profile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load profile: %w", err)
	}
	list, ok := parseDump(b)
	if !ok {
		if err := yaml.Unmarshal(b, &list); err != nil {
			return nil, fmt.Errorf("load profile %s: %w", path, err)
		}
	}
	var out profile
	for i, d := range list {
		if d.Count == 0 || uint64(len(d.Times.Percentiles)) != d.Count {
			return nil, fmt.Errorf("load profile %s: entry %d, %q: %d requests with %d response times", path, i+1,
				d.URI, d.Count, len(d.Times.Percentiles))
		}
		s := &stat{
			uri: d.URI, method: d.Method, n: d.Count, status: [6]uint64{0, d.Status1xx, d.Status2xx, d.Status3xx,
				d.Status4xx, d.Status5xx},
			sum: d.Times.Sum, sumBody: d.Body.Sum, minBody: d.Body.Min, maxBody: d.Body.Max,
			values: d.Times.Percentiles,
		}
		for _, v := range s.values {
			s.steps = append(s.steps, exact.Step{Value: v, N: 1})
		}
		s.steps = exact.Ascending(s.steps)
		out = append(out, s)
	}
	return out, nil
}

// dump writes the profile to a file that alp and [loadProfile] can read.
func (p profile) dump(path string) (err error) {
	f, err := private.Output.Create(path)
	if err != nil {
		return fmt.Errorf("dump profile: %w", err)
	}
	defer func() {
		if closed := f.Close(); err == nil && closed != nil {
			err = fmt.Errorf("dump profile: %w", closed)
		}
	}()
	w := bufio.NewWriter(f)
	if len(p) == 0 {
		w.WriteString("[]\n")
	}
	for _, s := range p {
		s.dump(w)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("dump profile: %w", err)
	}
	return nil
}

func (s *stat) dump(w *bufio.Writer) {
	fmt.Fprintf(w, "- uri: %s\n  count: %d\n", yamlText(s.uri), s.n)
	for i := 1; i <= 5; i++ {
		fmt.Fprintf(w, "  status%dxx: %d\n", i, s.status[i])
	}
	fmt.Fprintf(w, "  method: %s\n  response_time:\n", yamlText(s.method))
	dumpStats(w, s.max(), s.min(), s.sum)
	w.WriteString("    usepercentile: true\n    percentiles:\n")
	for _, v := range s.values {
		fmt.Fprintf(w, "    - %s\n", yamlFloat(v))
	}
	w.WriteString("  request_body_bytes:\n")
	dumpStats(w, s.maxBody, s.minBody, s.sumBody)
	w.WriteString("    usepercentile: false\n    percentiles: []\n  response_body_bytes:\n")
	dumpStats(w, 0, 0, 0)
	w.WriteString("    usepercentile: false\n    percentiles: []\n  time: \"\"\n")
}

func dumpStats(w *bufio.Writer, largest, least, sum float64) {
	fmt.Fprintf(w, "    max: %s\n    min: %s\n    sum: %s\n", yamlFloat(largest), yamlFloat(least), yamlFloat(sum))
}

func yamlFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// yamlText writes a text as a scalar: plain, or in quotes where it would be
// something else.
//
// Source: YAML 1.2.2, chapter 7.3.
func yamlText(s string) string {
	switch {
	case s == "":
		return `""`
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		b, err := json.Marshal(s) // a JSON string is a YAML one
		if err != nil {
			return `""`
		}
		return string(b)
	case isYAMLValue(s):
		return strconv.Quote(s)
	case strings.ContainsAny(s[:1], "!&*-?:,[]{}#|>@`\"'% ") && !plainStart(s), strings.HasSuffix(s, " "),
		strings.HasSuffix(s, ":"),
		strings.Contains(s, ": "), strings.Contains(s, " #"):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// plainStart reports whether a text may begin with - ? or : all the same.
func plainStart(s string) bool {
	return len(s) > 1 && strings.ContainsRune("-?:", rune(s[0])) && s[1] != ' '
}

// isYAMLValue reports whether a plain text would be read as a number, a boolean,
// null or a time.
func isYAMLValue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "~", ".nan", ".inf", "+.inf", "-.inf", "<<", "=",
		"---", "...":
		return true
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return true
	}
	_, err := strconv.ParseInt(s, 0, 64)
	digits := strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789-:. TtZz+_eExXoObB") == ""
	return err == nil || digits
}
