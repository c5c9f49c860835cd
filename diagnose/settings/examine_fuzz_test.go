package settings

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// FuzzExamine: whatever a server says of itself, each check answers, and what is proposed
// is not in force, and is what SET and option files take.
func FuzzExamine(f *testing.F) {
	for _, in := range []Input{mariaDB(), mySQL()} {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(in.Variables)) {
			b.WriteString(name + "=" + in.Variables[name] + "\n")
		}
		f.Add(b.String(), "Max_used_connections=1e6\nInnodb_log_waits=9")
	}
	for _, c := range checkCases {
		f.Add(strings.ReplaceAll(c.fire, " ", "\n"), "Questions=NaN\nUptime=-1")
	}
	f.Add("max_connections=1e308\ninnodb_buffer_pool_size=-5\nsort_buffer_size=99999999999999999999", "Uptime=1e300\nMax_used_connections=-1e300")
	f.Fuzz(func(t *testing.T, variables, status string) {
		in := mariaDB()
		in.Variables, in.Status = maps.Clone(in.Variables), maps.Clone(in.Status)
		for line := range strings.SplitSeq(variables, "\n") {
			name, value, _ := strings.Cut(line, "=")
			in.Variables[name] = value
		}
		for line := range strings.SplitSeq(status, "\n") {
			name, value, _ := strings.Cut(line, "=")
			if v, ok := parseNumber(value); ok {
				in.Status[name] = v
			}
		}
		r := Examine(in)
		for _, a := range r.Advice {
			if a.Variable == "" {
				continue
			}
			if sameValue(a.Value, a.Proposed) || !plain(a.Proposed) || strings.ContainsAny(a.SetGlobal+a.ConfLine, "\n\r\x00") {
				t.Errorf("%+v", a)
			}
		}
	})
}

// plain reports whether a value needs no quotes.
func plain(value string) bool {
	return value != "" && !strings.ContainsFunc(value, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r == '_')
	})
}
