package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// Said is a class of lines of an application's log and how many of them fall
// into the focus.
type Said struct {
	*kasoku.Message
	Count uint64
}

// Text returns what the lines say. Where they hold the number of a server's
// error, it begins there: what stands before it is the client's own address,
// with a port that is another one in each run.
func (s Said) Text() string {
	if s.Code != "" {
		if _, tail, ok := cutFold(s.Sample, "error "+s.Code); ok && (tail == "" || tail[0] < '0' || tail[0] > '9') {
			return s.Sample[len(s.Sample)-len(tail)-len("error "+s.Code):]
		}
	}
	return s.Sample
}

// cutFold is strings.Cut for an ASCII separator in lower case that is looked for
// in either case.
func cutFold(s, sep string) (before, after string, ok bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(sep)], sep) {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

// Said returns the classes of an application's log lines that came in the focus and
// that want accepts, the most frequent first.
//
// A log without times is placed by how far it had grown at each tick, so its
// lines are right to about a second; the focus's seconds therefore count whole.
func (ls Lines) Said(want func(*kasoku.Message) bool) []Said {
	return ls.SaidBy(kasoku.MessageApp, want)
}

// SaidBy is [Lines.Said] of another kind of log, such as nginx's error log.
func (ls Lines) SaidBy(kind string, want func(*kasoku.Message) bool) []Said {
	var out []Said
	for i := range ls.c.Messages {
		m := &ls.c.Messages[i]
		if n := ls.linesIn(m); n > 0 && m.Kind == kind && want(m) {
			out = append(out, Said{m, n})
		}
	}
	slices.SortStableFunc(out, func(a, b Said) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Pattern, b.Pattern))
	})
	return out
}

// linesIn counts a message's lines in the focus; all of them when it is only
// known that some were in it.
func (ls Lines) linesIn(m *kasoku.Message) uint64 {
	iv := ls.c.Focus.Interval
	if len(m.Seconds) == 0 {
		if m.Last >= iv.From && m.First < iv.To {
			return m.Count
		}
		return 0
	}
	var n uint64
	for s, k := range m.Seconds {
		if in := secondInterval(s); in.From < iv.To && in.To > iv.From {
			n += k
		}
	}
	return n
}

// HasAppLog reports whether an application's log was read, be it empty.
func (ls Lines) HasAppLog() bool {
	byApp := func(m kasoku.Message) bool { return m.Kind == kasoku.MessageApp }
	return slices.ContainsFunc(ls.c.Messages, byApp) || slices.ContainsFunc(ls.c.Logs, func(w kasoku.LogWindow) bool {
		return w.Kind == "applog" && (w.Lines > 0 || w.Files > 0 || w.Note == "")
	})
}

// HasSlowLog reports whether the slow log was read and held statements.
func (ls Lines) HasSlowLog() bool { return len(ls.c.Queries) > 0 || len(ls.c.Saves) > 0 }

// NoLog describes why a log of that kind (accesslog, slowlog, applog) has nothing to
// read: it was not recorded, or the note of its window.
func (ls Lines) NoLog(kind string) string {
	name := map[string]string{"accesslog": "access log", "slowlog": "slow log", "applog": "application log"}[kind]
	for _, w := range ls.c.Logs {
		switch {
		case w.Kind != kind:
		case w.Note != "":
			return "the " + name + " gave nothing: " + w.Note
		case w.Lines == 0:
			return "the " + name + " stayed empty"
		default:
			return "the " + name + " has no such line"
		}
	}
	return "no " + name + " was recorded"
}

// IsError reports whether a message reports something that went wrong.
func IsError(m *kasoku.Message) bool {
	if m.Level == "error" || m.Code != "" {
		return true
	}
	return m.Level == "" && !m.SQL && containsFold(m.Sample, "error", "fail", "panic", "refused", "timeout",
		"timed out", "too many")
}

func containsFold(s string, parts ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}
