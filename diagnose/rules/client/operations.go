package client

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/expvar"
)

// An operation is one kind of a client's requests, or those of one size, over the time in
// which it was seen.
type operation struct {
	key    kasoku.Key // of its answers
	name   string
	size   float64 // 0: none is published
	n      float64 // answers
	took   float64 // seconds, of all answers
	served float64 // seconds for which the service worked for it
	gained float64
	gains  bool // whether what it gained is published
}

// mean is how long an answer took, in seconds.
func (o *operation) mean() float64 { return o.took / o.n }

// operationsOf returns what the client's program publishes of its operations, those of most
// answers first.
func operationsOf(c *diagnose.Case, s *seen) (out []operation) {
	for _, answers := range c.FindAll(s.key.Source, expvar.Answers) {
		k := answers.Key
		if k.Host != s.key.Host || !strings.HasPrefix(k.Instance, programOf(s.key)) || len(answers.Points) < 2 {
			continue
		}
		o := operation{key: k, name: lastOf(k.Instance), n: grown(answers)}
		for _, of := range []struct {
			name string
			into *float64
			read func(*kasoku.Series) float64
		}{
			{expvar.AnswerTime, &o.took, grown}, {expvar.ServiceTime, &o.served, grown}, {expvar.Size, &o.size, most},
			{expvar.Gained, &o.gained, grown},
		} {
			if x := beside(c, k, of.name); x != nil {
				*of.into = of.read(x)
				o.gains = o.gains || of.name == expvar.Gained
			}
		}
		if o.n > 0 && o.possible() {
			o.name = strings.TrimSuffix(o.name, " "+strconv.FormatFloat(o.size, 'f', -1, 64))
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b operation) int { return cmp.Compare(b.n, a.n) })
	return out
}

// possible reports whether an operation's numbers can be: what a program publishes may be anything.
func (o *operation) possible() bool {
	for _, v := range []float64{o.n, o.took, o.served, o.gained, o.size} {
		if !(v >= 0 && v < 1e15) {
			return false
		}
	}
	return true
}
