package plugin

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Why a counter has no difference.
var (
	errTooLong = errors.New("too long duration")
	errReset   = errors.New("counter seems to be reset")
)

// lines returns what is printed of the fetched values, in the order of the graphs.
func (p *Plugin) lines(stat map[string]float64, last state, now time.Time) []Value {
	keys := slices.Sorted(maps.Keys(stat))
	whole := p.wholeMatches(keys)
	var out []Value
	for _, g := range p.Graphs {
		for _, m := range g.Metrics {
			if !hasWildcard(g.Key + m.Name) {
				if v, ok := p.value(m, m.Name, stat, last, now); ok {
					out = append(out, Value{Name: joinKey(g.Key, m.Name), Value: v})
				}
				continue
			}
			begins := patternOf(g.Key, m.Name, "")
			for _, key := range keys {
				if !begins.MatchString(key) || whole[key] != "" && whole[key] != joinKey(g.Key, m.Name) {
					continue
				}
				if v, ok := p.value(m, key, stat, last, now); ok {
					out = append(out, Value{Name: key, Value: v})
				}
			}
		}
	}
	return out
}

// wholeMatches returns for each key the pattern that matches the whole of it. Keys
// that only begin like a pattern are printed for it, except these.
func (p *Plugin) wholeMatches(keys []string) map[string]string {
	out := map[string]string{}
	for _, g := range p.Graphs {
		for _, m := range g.Metrics {
			if !hasWildcard(g.Key + m.Name) {
				continue
			}
			re := patternOf(g.Key, m.Name, `\z`)
			for _, key := range keys {
				if out[key] == "" && re.MatchString(key) {
					out[key] = joinKey(g.Key, m.Name)
				}
			}
		}
	}
	return out
}

func hasWildcard(s string) bool { return strings.ContainsAny(s, "*#") }

// joinKey leaves out an empty key.
func joinKey(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// patternOf is the expression for the keys of a wildcard: a star or a hash is one
// segment.
func patternOf(key, name, end string) *regexp.Regexp {
	s := regexp.QuoteMeta(joinKey(key, name))
	s = strings.NewReplacer(`\*`, `[-a-zA-Z0-9_]+`, `#`, `[-a-zA-Z0-9_]+`).Replace(s)
	return regexp.MustCompile(`\A` + s + end)
}

// value is what is printed for one key; ok is false for nothing.
func (p *Plugin) value(m Metric, key string, stat map[string]float64, last state, now time.Time) (v float64, ok bool) {
	v, ok = stat[key]
	if !ok {
		return 0, false
	}
	if m.Diff {
		before, had := last.values[key]
		if !had {
			p.logf("%s does not exist at last fetch", key)
			return 0, false
		}
		var err error
		v, err = perMinute(v-before, now.Unix()-last.at.Unix())
		if err != nil {
			p.logf("%s: %v", key, err)
		}
		if errors.Is(err, errReset) {
			return 0, false
		}
	}
	if m.Scale != 0 {
		v *= m.Scale
	}
	return v, true
}

// perMinute returns the difference of a counter in 60 seconds. After too long a
// time it is 0, as in the helper library.
func perMinute(diff float64, seconds int64) (float64, error) {
	switch {
	case time.Duration(seconds)*time.Second > maxAge:
		return 0, errTooLong
	case diff < 0:
		return 0, errReset
	}
	return diff * 60 / float64(seconds), nil
}
