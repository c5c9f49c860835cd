package diagnose

import (
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// KindProbe is the kind of a [kasoku.Config] that holds a [Probe]; its name is the
// moment.
const KindProbe = "probe"

// The moments at which probes are taken.
const (
	AtStart           = "at the start"
	AfterInitialize   = "after initialize"
	AfterRestart      = "after a restart"
	AfterReinitialize = "after a restart and initialize"
)

// The first words of a fact's name.
const (
	FactRows   = "rows "   // rows shop.orders = 200
	FactIndex  = "index "  // index shop.orders.by_day = (day, id)
	FactAnswer = "answer " // answer GET http://127.0.0.1/ = 200, 3 bytes, 6f1ed002
)

// A Probe is what the data of a service looked like at one moment.
type Probe struct {
	At    string            // AtStart …
	Facts map[string]string // by name
}

// Text returns the probe, one fact a line, sorted.
func (p Probe) Text() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Facts)) {
		b.WriteString(name + " = " + p.Facts[name] + "\n")
	}
	return b.String()
}

// ParseProbe reads what [Probe.Text] wrote; a line that is no fact is left out.
func ParseProbe(at, text string) Probe {
	p := Probe{At: at, Facts: map[string]string{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if i := strings.LastIndex(line, " = "); i > 0 {
			p.Facts[line[:i]] = line[i+len(" = "):]
		}
	}
	return p
}

// Probe returns the recording's probe of a moment.
func (c *Case) Probe(at string) (Probe, bool) {
	for i := range c.Configs {
		if t := &c.Configs[i]; t.Kind == KindProbe && t.Name == at {
			return ParseProbe(at, t.Text), true
		}
	}
	return Probe{}, false
}

// Config returns the probe to be kept with a run.
func (p Probe) Config() kasoku.Config {
	return kasoku.Config{Kind: KindProbe, Name: p.At, Text: p.Text()}
}

// Count returns how many facts begin with the word.
func (p Probe) Count(word string) (n int) {
	for name := range p.Facts {
		if strings.HasPrefix(name, word) {
			n++
		}
	}
	return n
}

// A Loss is a fact that is gone or different in a later probe.
type Loss struct {
	Fact    string
	Was, Is string // Is is empty when it is gone
	At      string // of the later probe
}

// String returns "rows shop.orders: 200, after a restart 0".
func (l Loss) String() string {
	if l.Is == "" {
		return l.Fact + " " + l.Was + " is gone " + l.At
	}
	return l.Fact + ": " + l.Was + ", " + l.At + " " + l.Is
}

// Lost returns which facts that begin with one of the words are gone or different
// in the later of two probes, sorted. What is new there was not lost.
func (p Probe) Lost(later Probe, words ...string) []Loss {
	var out []Loss
	for _, name := range slices.Sorted(maps.Keys(p.Facts)) {
		was, is := p.Facts[name], later.Facts[name]
		if was != is && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(name, w) }) {
			out = append(out, Loss{name, was, is, later.At})
		}
	}
	return out
}
