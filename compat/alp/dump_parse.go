package alp

import (
	"encoding/json"
	"strconv"
	"strings"
)

// parseDump reads the file of --dump as alp and we write it, line by line: a
// million response times are too many for a YAML library. It reports false for a
// file that is written in another way.
func parseDump(b []byte) (list []dumped, ok bool) {
	p := dumpParser{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "[]" && len(p.list) == 0 {
			continue
		}
		if !p.line(line) {
			return nil, false
		}
	}
	return p.list, true
}

type dumpParser struct {
	list  []dumped
	stats *dumpedStats // of the section that the lines are in; nil: of none that matters
}

func (p *dumpParser) line(line string) bool {
	if rest, ok := strings.CutPrefix(line, "- "); ok {
		p.list, p.stats = append(p.list, dumped{}), nil
		return p.field(rest)
	}
	if len(p.list) == 0 {
		return false
	}
	if rest, ok := strings.CutPrefix(line, "    "); ok {
		return p.statsField(rest)
	}
	rest, ok := strings.CutPrefix(line, "  ")
	return ok && p.field(rest)
}

// field reads a line of a class.
func (p *dumpParser) field(line string) bool {
	d := &p.list[len(p.list)-1]
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		return false
	}
	value = strings.TrimPrefix(value, " ")
	counts := map[string]*uint64{
		"count": &d.Count, "status1xx": &d.Status1xx, "status2xx": &d.Status2xx, "status3xx": &d.Status3xx,
		"status4xx": &d.Status4xx, "status5xx": &d.Status5xx,
	}
	if n := counts[key]; n != nil {
		var err error
		*n, err = strconv.ParseUint(value, 10, 64)
		return err == nil
	}
	switch key {
	case "uri":
		d.URI, ok = parseYAMLText(value)
		return ok
	case "method":
		d.Method, ok = parseYAMLText(value)
		return ok
	case "response_time":
		p.stats = &d.Times
	case "request_body_bytes":
		p.stats = &d.Body
	case "response_body_bytes", "time":
		p.stats = nil
	default:
		return false
	}
	return key == "time" || value == ""
}

// statsField reads a line of one of the sections of numbers.
func (p *dumpParser) statsField(line string) bool {
	s := p.stats
	if s == nil {
		s = &dumpedStats{}
	}
	if text, ok := strings.CutPrefix(line, "- "); ok {
		v, err := strconv.ParseFloat(text, 64)
		s.Percentiles = append(s.Percentiles, v)
		return err == nil
	}
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		return false
	}
	value = strings.TrimPrefix(value, " ")
	var into *float64
	switch key {
	case "max":
		into = &s.Max
	case "min":
		into = &s.Min
	case "sum":
		into = &s.Sum
	case "usepercentile":
		return true
	case "percentiles":
		return value == "" || value == "[]"
	default:
		return false
	}
	v, err := strconv.ParseFloat(value, 64)
	*into = v
	return err == nil
}

// parseYAMLText reads a scalar that is a text. It reports false for one that
// would be something else, and for what it does not know.
func parseYAMLText(s string) (string, bool) {
	n := len(s)
	switch {
	case n >= 2 && s[0] == '\'' && s[n-1] == '\'':
		return strings.ReplaceAll(s[1:n-1], "''", "'"), true
	case n >= 2 && s[0] == '"' && s[n-1] == '"':
		var text string
		err := json.Unmarshal([]byte(s), &text)
		return text, err == nil
	}
	return s, yamlText(s) == s
}
