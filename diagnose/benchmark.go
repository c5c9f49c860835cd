package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/unit"
)

// mostComplaints are the messages of a benchmark that a finding quotes at most.
const mostComplaints = 2

// requestWords are a method and a path, or a path alone, as benchmarks print them.
var requestWords = lazyregexp.New(`(?:\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|Get|Post|Put|Patch|Delete|Head) )?(/[\w./~%:@+-]*)`)

// complaint is a message with which the benchmark reports what went wrong at an endpoint.
type complaint struct {
	*kasoku.Message
	endpoint string // of the access log: GET /orders/:id
}

// complaints are the messages of the benchmark that name an endpoint of the access log, the
// most frequent first.
func (ls Lines) complaints() (out []complaint) {
	c := ls.c
	_, endpoints := c.FrontLog()
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Kind != kasoku.MessageBenchmark || m.Level != "error" {
			continue
		}
		method, path := requestIn(m.Sample)
		at := slices.IndexFunc(endpoints, func(e kasoku.Endpoint) bool {
			return path != "" && (method == "" || strings.EqualFold(method, e.Method)) && onRoute(path, e.Route)
		})
		if at >= 0 {
			out = append(out, complaint{m, endpoints[at].Method + " " + endpoints[at].Route})
		}
	}
	slices.SortStableFunc(out, func(a, b complaint) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Pattern, b.Pattern))
	})
	return out
}

// requestIn returns the first request that a text names, the method where it stands there;
// empty without one.
func requestIn(text string) (method, path string) {
	for _, m := range requestWords().FindAllStringSubmatch(text, -1) {
		if len(m[2]) >= 2 || m[1] != "" { // else a slash between words
			return m[1], m[2]
		}
	}
	return "", ""
}

// onRoute reports whether a path is of a route, whose parts that begin with a colon or are
// a star stand for any.
func onRoute(path, route string) bool {
	have, want := strings.Split(strings.TrimRight(path, "/.:"), "/"), strings.Split(strings.TrimRight(route, "/"),
		"/")
	return slices.EqualFunc(have, want, func(a, b string) bool {
		return a == b || a != "" && (strings.HasPrefix(b, ":") || b == "*")
	})
}

// quoteBenchmark adds to findings what the benchmark said of their endpoints. It changes
// neither their order nor how sure they are: whoever fails there feels more than one cause.
func quoteBenchmark(c *Case, found []kasoku.Finding) {
	said := c.Lines().complaints()
	for i := range found {
		f, quoted := &found[i], 0
		for _, s := range said {
			if quoted < mostComplaints && concerns(f, s.endpoint) {
				f.Evidence = append(f.Evidence, c.Quote().Complaint(s.Message))
				quoted++
			}
		}
	}
}

// Complaint is the evidence of what a benchmark reported.
func (qt Quote) Complaint(m *kasoku.Message) kasoku.Evidence {
	e := kasoku.Evidence{Source: kasoku.MessageBenchmark, Text: m.Sample, Value: "× " + unit.Count(m.Count),
		Number: float64(m.Count)}
	if len(m.Seconds) > 0 {
		e.Note, e.Interval = "first "+qt.Clock(m.First), kasoku.Interval{From: m.First, To: m.Last + 1}
	} else {
		e.Note = "in its result"
	}
	return e
}

// concerns reports whether a finding is about an endpoint, or names it.
func concerns(f *kasoku.Finding, endpoint string) bool {
	if f.Severity == kasoku.Info {
		return false
	}
	if f.Object.Name == endpoint || namesWhole(f.Title, endpoint) || namesWhole(f.Cause, endpoint) {
		return true
	}
	return slices.ContainsFunc(f.Evidence, func(e kasoku.Evidence) bool {
		return namesWhole(e.Text, endpoint) || namesWhole(e.Note, endpoint)
	})
}

// namesWhole reports whether a text has the endpoint, and not only one whose path goes on.
func namesWhole(text, endpoint string) bool {
	for {
		_, after, ok := strings.Cut(text, endpoint)
		if !ok {
			return false
		}
		if after == "" ||
			!strings.ContainsRune("/_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:",
				rune(after[0])) {
			return true
		}
		if after[0] == ':' && (len(after) == 1 || after[1] == ' ') {
			return true
		}
		text = after
	}
}
