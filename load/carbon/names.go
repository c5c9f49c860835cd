package carbon

import (
	"fmt"
	"strconv"
	"strings"
)

// The places of a template.
const (
	agentPlace  = "{agent}"
	metricPlace = "{metric}"
)

// longestName bounds the name of a series: a datagram has to hold a line.
const longestName = 1000

// A Template is the name of a series with a place for its number, {metric}, and one for
// that of its agent, {agent}. Without {agent} the numbers of all agents go on from one
// another.
type Template string

// Check returns what is wrong with the template, nil when nothing is.
func (t Template) Check() error {
	s := string(t)
	rest := strings.NewReplacer(agentPlace, "0", metricPlace, "0").Replace(s)
	switch {
	case strings.Count(s, metricPlace) != 1:
		return fmt.Errorf("names %q: want {metric} once", s)
	case strings.Count(s, agentPlace) > 1:
		return fmt.Errorf("names %q: want {agent} once at most", s)
	case len(s) > longestName:
		return fmt.Errorf("names of %d bytes: want %d at most", len(s), longestName)
	}
	for part := range strings.SplitSeq(rest, ".") {
		if part == "" {
			return fmt.Errorf("names %q: a part between dots is empty", s)
		}
	}
	if i := strings.IndexFunc(rest, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '{' || r == '}' ||
			r == '/'
	}); i >= 0 {
		return fmt.Errorf("names %q: %q has no place in a name", s, rest[i])
	}
	return nil
}

// hasAgent reports whether the names of two agents differ.
func (t Template) hasAgent() bool { return strings.Contains(string(t), agentPlace) }

// ofAgent returns the name of the agent's series; its number is to be set.
func (t Template) ofAgent(agent int) seriesName {
	head, foot, _ := strings.Cut(strings.ReplaceAll(string(t), agentPlace, strconv.Itoa(agent)), metricPlace)
	return seriesName{buf: []byte(head), head: len(head), foot: foot}
}

// A seriesName is the name of one series, which becomes that of the next in place.
type seriesName struct {
	buf  []byte // the whole name
	head int    // where the number begins
	foot string // what stands after it
}

// set makes it the name of series n.
func (s *seriesName) set(n int) {
	s.buf = strconv.AppendInt(s.buf[:s.head], int64(n), 10)
	s.buf = append(s.buf, s.foot...)
}

// next makes it the name of the series after.
func (s *seriesName) next() {
	i := len(s.buf) - len(s.foot) - 1
	for ; i >= s.head && s.buf[i] == '9'; i-- {
		s.buf[i] = '0'
	}
	if i >= s.head {
		s.buf[i]++
		return
	}
	s.buf = append(s.buf, 0) // all were nines: one digit more
	copy(s.buf[s.head+1:], s.buf[s.head:])
	s.buf[s.head] = '1'
}
