package score

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A tool is a benchmark whose output is known; the first group of re is its score.
type tool struct {
	source string
	re     func() *regexp.Regexp
}

// tools are those known by their text, the most significant figure of each first.
var tools = []tool{
	{"ab, Requests per second", lazyregexp.New(`(?m)^Requests per second:\s+([\d.]+) \[#/sec\]`)},
	{"wrk, Requests/sec", lazyregexp.New(`(?m)^Requests/sec:\s+([\d.]+)\s*$`)},
	{"hey, Requests/sec", lazyregexp.New(`(?m)^[ \t]+Requests/sec:\s+([\d.]+)\s*$`)},
	{"sysbench, transactions per second", lazyregexp.New(`(?m)^\s+transactions:\s+\d+\s+\(([\d.]+) per sec\.\)`)},
	{"sysbench, queries per second", lazyregexp.New(`(?m)^\s+queries:\s+\d+\s+\(([\d.]+) per sec\.\)`)},
	{"sysbench, events per second", lazyregexp.New(`(?m)^\s+events per second:\s+([\d.]+)\s*$`)},
	{"k6, http_reqs per second", lazyregexp.New(`(?m)^\s+http_reqs[.\s]*:\s+\d+\s+([\d.]+)/s`)},
	{"vegeta, throughput", lazyregexp.New(`(?m)^Requests\s+\[total, rate, throughput\]\s+\d+, [\d.]+, ([\d.]+)`)},
}

// Recognize returns the score of a benchmark whose output is known, nil when it is
// not. An object of JSON with pass and score, as ISUCON's benchmarks print it, goes
// before all others. The requests that it counted, and those of them that failed, come
// with it; one whose every request failed has failed.
func Recognize(output []byte) *kasoku.Score {
	if s := isuconScore(output); s != nil {
		return s
	}
	text := plainText(output)
	for _, t := range tools {
		all := t.re().FindAllSubmatch(text, -1)
		if len(all) == 0 {
			continue
		}
		if v, ok := parseNumber(string(all[len(all)-1][1])); ok {
			s := &kasoku.Score{Value: v, Source: t.source}
			setCount(s, countOf(t.source, text))
			return s
		}
	}
	return nil
}

// countOf returns what the tool printed of its requests.
func countOf(source string, text []byte) count {
	name, _, _ := strings.Cut(source, ",")
	for _, c := range counters {
		if c.tool == name {
			return c.read(text)
		}
	}
	return count{}
}

// setCount keeps with a score what was counted.
func setCount(s *kasoku.Score, c count) {
	s.Requests, s.Failures = c.requests, c.failures
	if s.AllFailed() && s.Outcome == kasoku.Unjudged {
		s.Outcome = kasoku.Failed
	}
}

// isuconScore reads {"pass":true,"score":1234,…}.
func isuconScore(output []byte) (s *kasoku.Score) {
	eachJSON(output, func(v any) {
		fields, _ := v.(map[string]any)
		passed, hasPass := fields["pass"].(bool)
		n, hasScore := fields["score"].(json.Number)
		if !hasPass || !hasScore {
			return
		}
		if value, ok := parseNumber(n.String()); ok {
			s = &kasoku.Score{Value: value, Outcome: outcomeOf(passed), Source: "output, JSON pass and score"}
			setCount(s, countJSON(fields))
		}
	})
	return s
}
