package score

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A spoken is one message of a benchmark's result.
type spoken struct {
	text  string
	count uint64
	bad   bool // it reports what went wrong
	exact bool // its numbers distinguish it
}

// speakers read the messages of the summaries that tools end with; what they read is the
// text that lines match.
var speakers = []struct {
	mark  []string              // one of these is in the summary
	lines func() *regexp.Regexp // of the summary, which are no lines of a log
	say   func(text []byte) []spoken
}{
	{[]string{"Socket errors: connect", "Non-2xx or 3xx responses:"},
		lazyregexp.New(`(?m)^\s+(?:Socket errors: connect|Non-2xx or 3xx responses:).*$`), sayWrk},
	{[]string{"Failed requests:", "Non-2xx responses:"},
		lazyregexp.New(`(?m)^(?:Failed requests:|Non-2xx responses:|\s+\(Connect: \d+, Receive:).*$`), sayAB},
	{[]string{"Error distribution:"}, lazyregexp.New(`(?m)^(?:Error distribution:\s*|\s+\[\d+\]\s+\S.*)$`), sayHey},
	{[]string{"ignored errors:", "reconnects:"}, lazyregexp.New(`(?m)^\s+(?:ignored errors|reconnects):.*$`),
		saySysbench},
	{[]string{"[code:count]", "Error Set:"},
		lazyregexp.New(`(?m)^(?:Status Codes\s+\[code:count\].*|Error Set:\s*(?:\n\S.*)*)$`), sayVegeta},
	{[]string{"http_req_failed", "✗ "},
		lazyregexp.New(`(?m)^\s+(?:[✓✗] .*|↳ .*|(?:http_req_failed|checks(?:_failed|_succeeded)?)[.\s]*:.*)$`),
		sayK6},
}

// resultWords returns the messages of results, and blanks in the text what holds them.
func resultWords(text []byte) (out []spoken) {
	eachJSONAt(text, func(v any, from, to int) {
		fields, _ := v.(map[string]any)
		_, hasPass := fields["pass"].(bool)
		_, hasScore := fields["score"].(json.Number)
		if !hasPass || !hasScore {
			return
		}
		out = saidInJSON(fields) // of the last one, as the score is
		blank(text[from:to])
	})
	for _, s := range speakers {
		if !slices.ContainsFunc(s.mark, func(m string) bool { return bytes.Contains(text, []byte(m)) }) {
			continue
		}
		at := s.lines().FindAllIndex(text, -1)
		if len(at) == 0 {
			continue
		}
		out = append(out, s.say(text)...)
		for _, m := range at {
			blank(text[m[0]:m[1]])
		}
	}
	return out
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// saidInJSON reads messages, which are texts, or objects with a text and how often it came,
// the reason of a fail and the points that were taken away.
func saidInJSON(fields map[string]any) (out []spoken) {
	messages, _ := fields["messages"].([]any)
	for _, m := range messages {
		switch m := m.(type) {
		case string:
			out = append(out, spoken{text: m, count: 1, bad: complains(m)})
		case map[string]any:
			if text := firstText(m, "text", "message", "msg", "error"); text != "" {
				out = append(out, spoken{text: text, count: max(1, firstCount(m, "count", "n")), bad: complains(text)})
			}
		}
	}
	if passed, _ := fields["pass"].(bool); !passed {
		if reason := firstText(fields, "reason"); reason != "" {
			out = append(out, spoken{text: reason, count: 1, bad: true})
		}
	}
	if n := firstCount(fields, "deduction", "deductions"); n > 0 {
		out = append(out, spoken{text: fmt.Sprintf("deduction: %d", n), count: 1, bad: true})
	}
	return out
}

// complains reports whether a result's message is of a request that went wrong: benchmarks list what they found
// wrong there in words of their own (GET /api/isu: no answer within 1s; GET /api/trend: more than 1s old).
func complains(message string) bool {
	return requestWords().MatchString(pathsOf(message)) && !successWords().MatchString(message)
}

func firstText(fields map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := fields[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

func firstCount(fields map[string]any, names ...string) uint64 {
	for _, name := range names {
		if n, ok := fields[name].(json.Number); ok {
			return parseCount([]byte(n.String()))
		}
	}
	return 0
}

// counted leaves out what did not come.
func counted(all ...spoken) (out []spoken) {
	for _, s := range all {
		if s.count > 0 {
			s.bad = true
			out = append(out, s)
		}
	}
	return out
}

func sayWrk(text []byte) []spoken {
	var of [4]uint64
	for _, m := range wrkSockets().FindAllSubmatch(text, -1) {
		for i := range of {
			of[i] = sumOf(of[i], parseCount(m[i+1]))
		}
	}
	return counted(
		spoken{text: "timeout", count: of[3]}, spoken{text: "connect error", count: of[0]},
		spoken{text: "read error", count: of[1]}, spoken{text: "write error", count: of[2]},
		spoken{text: "answer with neither 2xx nor 3xx", count: sumMatches(wrkStatus(), text)})
}

func sayAB(text []byte) []spoken {
	var of [3]uint64
	for _, m := range abFailed().FindAllSubmatch(text, -1) {
		for i := range of {
			of[i] = sumOf(of[i], parseCount(m[i+1]))
		}
	}
	return counted(spoken{text: "connect error", count: of[0]}, spoken{text: "receive error", count: of[1]},
		spoken{text: "exception", count: of[2]}, spoken{text: "answer without 2xx", count: sumMatches(abStatus(),
			text)})
}

// sayHey reads the distributions that hey and oha end with.
func sayHey(text []byte) (out []spoken) {
	for _, at := range heySection().FindAllIndex(text, -1) {
		for line := range bytes.Lines(bytes.TrimLeft(text[at[1]:], "\r\n")) {
			m := heyLine().FindSubmatch(bytes.TrimRight(line, "\r\n"))
			if m == nil {
				break
			}
			if answers := heyCount().FindSubmatch(m[2]); answers == nil {
				if !bytes.Contains(m[2], []byte("aborted due to deadline")) {
					out = append(out, spoken{text: string(m[2]), count: parseCount(m[1])})
				}
			} else if code := parseCount(m[1]); code < 200 || code >= 400 {
				out = append(out, status(m[1], answers[1]))
			}
		}
	}
	return counted(out...)
}

func saySysbench(text []byte) []spoken {
	return counted(spoken{text: "ignored error", count: sumMatches(sysbenchErrors(), text)})
}

// mostKinds is how many errors that were not answers are quoted in one message: vegeta does
// not say how often each came.
const mostKinds = 3

var vegetaErrors = lazyregexp.New(`(?m)^Error Set:[ \t\r]*\n((?:\S.*(?:\n|$))*)`)

func sayVegeta(text []byte) (out []spoken) {
	var unanswered uint64
	for _, line := range vegetaCodes().FindAllSubmatch(text, -1) {
		for _, m := range vegetaCode().FindAllSubmatch(line[1], -1) {
			switch code := parseCount(m[1]); {
			case code == 0:
				unanswered = sumOf(unanswered, parseCount(m[2]))
			case code < 200 || code >= 400:
				out = append(out, status(m[1], m[2]))
			}
		}
	}
	var kinds []string
	for _, set := range vegetaErrors().FindAllSubmatch(text, -1) {
		for line := range bytes.Lines(set[1]) {
			line = bytes.TrimSpace(line)
			answered := len(line) > 3 && line[3] == ' ' && parseCount(line[:3]) >= 100
			if len(kinds) < mostKinds && len(line) > 0 && !answered {
				kinds = append(kinds, string(line))
			}
		}
	}
	missing := "no answer"
	if len(kinds) > 0 {
		missing += ": " + strings.Join(kinds, "; ")
	}
	return counted(append(out, spoken{text: missing, count: unanswered})...)
}

var k6Check = lazyregexp.New(`(?m)^\s+✗ (\S.*)\n\s+↳\s+[\d.]+% — ✓ \d+ / ✗ (\d+)\s*$`)

// sayK6 reads the checks that failed, and the requests.
func sayK6(text []byte) (out []spoken) {
	for _, m := range k6Check().FindAllSubmatch(text, -1) {
		out = append(out, spoken{text: "check failed: " + string(m[1]), count: parseCount(m[2])})
	}
	return counted(append(out, spoken{text: "failed request", count: sumMatches(k6Failed(), text)})...)
}

// status is the message of answers with one status.
func status(code, count []byte) spoken {
	return spoken{text: "answer with status " + string(code), count: parseCount(count), exact: true}
}

// pathsOf returns a message with the paths of its URLs alone.
func pathsOf(message string) string {
	text := []byte(message)
	shortenURLs(text)
	return string(bytes.Join(bytes.Fields(text), []byte(" ")))
}
