package score

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A count is what a benchmark printed of its requests: transactions, of sysbench. Both
// are 0 when it printed nothing of them.
type count struct{ requests, failures uint64 }

// add adds what another result of the same output says. A sum never overflows.
func (c *count) add(requests, failures uint64) {
	c.requests, c.failures = sumOf(c.requests, requests), sumOf(c.failures, failures)
}

// sumOf adds, and stops at the largest number that a run file can keep.
func sumOf(a, b uint64) uint64 {
	if s := a + b; s >= a && s <= math.MaxInt64 {
		return s
	}
	return math.MaxInt64
}

// counters read what each tool prints of its requests, in the texts that the tools are
// known by. The results of several runs in one output are added up: what failed in one
// of them failed.
var counters = []struct {
	tool string // as it stands before the comma in tools
	read func(text []byte) count
}{
	{"ab", countAB}, {"wrk", countWrk}, {"hey", countHey}, {"sysbench", countSysbench}, {"vegeta", countVegeta}, {"k6", countK6},
}

var (
	wrkRequests = lazyregexp.New(`(?m)^\s+(\d+) requests in `)
	wrkStatus   = lazyregexp.New(`(?m)^\s+Non-2xx or 3xx responses: (\d+)`)
	wrkSockets  = lazyregexp.New(`(?m)^\s+Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)

	abRequests = lazyregexp.New(`(?m)^Complete requests:\s+(\d+)`)
	abFailed   = lazyregexp.New(`(?m)^\s+\(Connect: (\d+), Receive: (\d+), Length: \d+, Exceptions: (\d+)\)`)
	abStatus   = lazyregexp.New(`(?m)^Non-2xx responses:\s+(\d+)`)

	heySection = lazyregexp.New(`(?m)^(Status code|Error) distribution:\s*$`)
	heyLine    = lazyregexp.New(`^\s+\[(\d+)\]\s+(\S.*)$`)
	heyCount   = lazyregexp.New(`^(\d+) responses\s*$`)

	sysbenchDone   = lazyregexp.New(`(?m)^\s+transactions:\s+(\d+)\s+\(`)
	sysbenchErrors = lazyregexp.New(`(?m)^\s+ignored errors:\s+(\d+)\s+\(`)

	vegetaCodes = lazyregexp.New(`(?m)^Status Codes\s+\[code:count\]\s+(\d+:\d+(?:\s+\d+:\d+)*)\s*$`)
	vegetaCode  = lazyregexp.New(`(\d+):(\d+)`)

	k6Requests = lazyregexp.New(`(?m)^\s+http_reqs[.\s]*:\s+(\d+)\s`)
	k6Failed   = lazyregexp.New(`(?m)^\s+http_req_failed[.\s]*:\s+[\d.]+%\s+(?:✓ (\d+)\s+✗ \d+|(\d+) out of \d+)`)
)

// countWrk reads wrk's figures. What a socket error or a timeout ended is not among its
// requests.
func countWrk(text []byte) (c count) {
	c.requests = sumMatches(wrkRequests(), text)
	sockets := sumMatches(wrkSockets(), text)
	c.add(sockets, sumOf(sockets, sumMatches(wrkStatus(), text)))
	return c
}

// countAB reads ab's figures. ab counts an answer as failed when its length differs from
// the first one's; such answers are no failures here.
func countAB(text []byte) count {
	done := sumMatches(abRequests(), text)
	return count{done, min(done, sumOf(sumMatches(abFailed(), text), sumMatches(abStatus(), text)))}
}

// countHey reads the distributions that hey and oha end with. What oha cuts off at its
// end is neither a success nor a failure.
func countHey(text []byte) (c count) {
	for _, at := range heySection().FindAllIndex(text, -1) {
		for line := range bytes.Lines(bytes.TrimLeft(text[at[1]:], "\r\n")) {
			m := heyLine().FindSubmatch(bytes.TrimRight(line, "\r\n"))
			if m == nil {
				break
			}
			if answers := heyCount().FindSubmatch(m[2]); answers != nil {
				failed := uint64(0)
				if code := parseCount(m[1]); code < 200 || code >= 400 {
					failed = parseCount(answers[1])
				}
				c.add(parseCount(answers[1]), failed)
			} else if !bytes.Contains(m[2], []byte("aborted due to deadline")) {
				c.add(parseCount(m[1]), parseCount(m[1]))
			}
		}
	}
	return c
}

func countSysbench(text []byte) (c count) {
	ignored := sumMatches(sysbenchErrors(), text)
	c.add(sumOf(sumMatches(sysbenchDone(), text), ignored), ignored)
	return c
}

func countVegeta(text []byte) (c count) {
	for _, line := range vegetaCodes().FindAllSubmatch(text, -1) {
		for _, m := range vegetaCode().FindAllSubmatch(line[1], -1) {
			n, failed := parseCount(m[2]), uint64(0)
			if code := parseCount(m[1]); code < 200 || code >= 400 {
				failed = n
			}
			c.add(n, failed)
		}
	}
	return c
}

// countK6 reads http_reqs and http_req_failed, as k6 prints them before and since 1.0.
func countK6(text []byte) count {
	return count{sumMatches(k6Requests(), text), sumMatches(k6Failed(), text)}
}

// countJSON reads success and fail beside pass and score, as ISUCON's benchmarks print
// them.
func countJSON(fields map[string]any) (c count) {
	number := func(name string) uint64 {
		n, ok := fields[name].(json.Number)
		if !ok {
			return 0
		}
		return parseCount([]byte(n.String()))
	}
	failed := number("fail")
	if succeeded := number("success"); succeeded > 0 || failed > 0 {
		c.add(sumOf(succeeded, failed), failed)
	}
	return c
}

// sumMatches adds up all groups of all matches.
func sumMatches(re *regexp.Regexp, text []byte) (sum uint64) {
	for _, m := range re.FindAllSubmatch(text, -1) {
		for _, group := range m[1:] {
			sum = sumOf(sum, parseCount(group))
		}
	}
	return sum
}

// parseCount reads digits; 0 for anything else, the largest number for too many.
func parseCount(text []byte) uint64 {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil && n <= 0 {
		return 0
	}
	return uint64(max(n, 0))
}
