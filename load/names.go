package load

import "strings"

// Limits that keep a recording small when targets or error messages are many.
// What is beyond them is counted under one name.
const (
	maxTargets  = 100  // names of targets
	maxErrors   = 50   // messages in one second of one target
	maxMessages = 1000 // messages in one load

	otherTargets = "other targets"
	otherErrors  = "other errors"
)

// names give each hit the place of its target's name.
type names struct {
	list  []string       // by place; only ever added to
	index map[string]int // place by name
	place []int          // by Hit.Target
	lines map[string]int // place by method and path as a stream has them; bounded
	line  []byte         // memory
}

func newNames(p Plan) *names {
	n := &names{index: map[string]int{}, lines: map[string]int{}}
	for _, name := range p.Names() {
		n.place = append(n.place, n.add(name))
	}
	return n
}

// add returns the place of a name.
func (n *names) add(name string) int {
	if place, known := n.index[name]; known {
		return place
	}
	if len(n.list) >= maxTargets {
		name = otherTargets
		if place, known := n.index[name]; known {
			return place
		}
	}
	n.list = append(n.list, name)
	n.index[name] = len(n.list) - 1
	return len(n.list) - 1
}

func (n *names) of(h *Hit) int {
	if h.Own != nil {
		return n.ofOwn(h.Own)
	}
	if h.Target < len(n.place) {
		return n.place[h.Target]
	}
	return n.add(otherTargets) // the stream gave it none
}

// ofOwn returns the place of a target that belongs to one hit alone. Those with
// one method and path have one name, which need not be worked out each time.
func (n *names) ofOwn(t *Target) int {
	path := t.URL
	if _, rest, ok := strings.Cut(path, "://"); ok {
		path = rest[max(strings.IndexByte(rest, '/'), 0):]
	}
	path, _, _ = strings.Cut(path, "?")
	n.line = append(append(append(n.line[:0], t.Method...), ' '), path...)
	if place, known := n.lines[string(n.line)]; known {
		return place
	}
	place := n.add(t.Name())
	if len(n.lines) < maxMessages {
		n.lines[string(n.line)] = place
	}
	return place
}

// messages give each hit the place of its error message.
type messages struct {
	list   []string       // by place; only ever added to; the first is otherErrors
	index  map[string]int // place by message
	varied []bool         // by Hit.Target: its URL differs from request to request
	last   string         // the newest message, as a hit had it
	place  int            // of last
}

func newMessages(p Plan) *messages {
	m := &messages{list: []string{otherErrors}, index: map[string]int{otherErrors: 0}, last: otherErrors}
	for i := range p.Targets {
		m.varied = append(m.varied, p.Targets[i].Fill != nil)
	}
	return m
}

func (m *messages) of(h *Hit) int {
	if h.Err != m.last {
		msg := h.Err
		if h.Own != nil || h.Target < len(m.varied) && m.varied[h.Target] {
			msg = withoutURL(msg)
		}
		m.last, m.place = h.Err, m.add(ErrorClass(msg))
	}
	return m.place
}

// add returns the place of a message.
func (m *messages) add(message string) int {
	if place, known := m.index[message]; known {
		return place
	}
	if len(m.list) > maxMessages {
		return 0
	}
	m.list = append(m.list, message)
	m.index[message] = len(m.list) - 1
	return len(m.list) - 1
}

// WithoutPassword returns a URL, which may have places, as others may see it: with
// *** for the password.
func WithoutPassword(url string) string {
	from := strings.Index(url, "://") + len("://")
	if from < len("://") {
		return url
	}
	host := url[from:]
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	at := strings.LastIndexByte(host, '@')
	colon := strings.IndexByte(host, ':')
	if colon < 0 || at < colon {
		return url
	}
	return url[:from+colon+1] + "***" + url[from+at:]
}
