package probe

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/slowlog"
)

const (
	// loopFrom is how many times a class of statements comes on one connection in one
	// request where a program loops.
	loopFrom = 5
	// lookupsFrom is from how many calls in a request on average the list that drives a class
	// of lookups is looked for.
	lookupsFrom = 2
	// listsTo is how many calls in a request a class may have at most to be such a list.
	listsTo = 3
	// leastCorrelation and the slopes are where rows and lookups go together. The slope
	// of a plain loop is 1; one with a condition is less, one that looks up several
	// things of a row by the same statement is more.
	leastCorrelation = 0.9
	leastSlope       = 0.2
	mostSlope        = 4.5
)

// A count is what was seen, by slot and class.
type count struct {
	host    string
	slots   []slot
	of      map[string]*kasoku.Query // classes by id
	in      []map[string]int         // statements of each slot by id
	rows    []map[string]uint64      // rows sent, likewise
	runs    []map[string]int         // the most on one connection, likewise
	idle    map[string]int
	idleFor float64 // seconds in which nothing was asked
}

func newCount(host string, slots []slot, all []seen, classes []slowlog.Class) *count {
	c := &count{host: host, slots: slots, of: map[string]*kasoku.Query{}, idle: map[string]int{}}
	ids := map[int]string{}
	for i := range classes {
		q := &classes[i]
		ids[q.Number] = q.ID
		if c.of[q.ID] == nil {
			c.of[q.ID] = &q.Query
		}
	}
	c.in, c.rows, c.runs = make([]map[string]int, len(slots)), make([]map[string]uint64, len(slots)),
		make([]map[string]int, len(slots))
	for i := range slots {
		c.in[i], c.rows[i], c.runs[i] = map[string]int{}, map[string]uint64{}, map[string]int{}
		if slots[i].endpoint < 0 {
			c.idleFor += slots[i].length.Seconds()
		}
	}
	type onOne struct {
		slot int
		id   string
		conn uint64
	}
	on := map[onOne]int{}
	for _, s := range all {
		id := ids[s.class]
		if id == "" { // folded into other statements
			continue
		}
		c.in[s.slot][id]++
		c.rows[s.slot][id] += s.rows
		key := onOne{s.slot, id, s.conn}
		on[key]++
		c.runs[s.slot][id] = max(c.runs[s.slot][id], on[key])
		if slots[s.slot].endpoint < 0 {
			c.idle[id]++
		}
	}
	return c
}

// requests returns the slots of an endpoint's requests.
func (c *count) requests(endpoint int) (out []int) {
	for i, s := range c.slots {
		if s.endpoint == endpoint {
			out = append(out, i)
		}
	}
	return out
}

// statements returns how many statements came in a request of an endpoint.
func (c *count) statements(endpoint int) (least, most int, mean float64) {
	slots := c.requests(endpoint)
	least = math.MaxInt
	for _, i := range slots {
		n := 0
		for _, k := range c.in[i] {
			n += k
		}
		least, most, mean = min(least, n), max(most, n), mean+float64(n)/float64(len(slots))
	}
	if len(slots) == 0 {
		least = 0
	}
	return least, most, mean
}

// callers returns what an endpoint runs, the most frequent first.
func (c *count) callers(endpoint int) []kasoku.Caller {
	slots := c.requests(endpoint)
	total := map[string]int{}
	length := 0.0
	for _, i := range slots {
		length += c.slots[i].length.Seconds()
		for id, n := range c.in[i] {
			total[id] += n
		}
	}
	var out []kasoku.Caller
	for id, n := range total {
		if x, ok := c.caller(id, slots, n, length); ok {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b kasoku.Caller) int {
		return cmp.Or(-cmp.Compare(a.PerRequest, b.PerRequest), cmp.Compare(a.QueryID, b.QueryID))
	})
	return out
}

// caller describes how often a class came in the slots. ok is false when as many come
// while nothing is asked.
func (c *count) caller(id string, slots []int, total int, length float64) (x kasoku.Caller, ok bool) {
	n := float64(len(slots))
	x = kasoku.Caller{Host: c.host, QueryID: id, Class: kasoku.CallerConfirmed, Source: kasoku.FromProbe,
		Requests: uint64(len(slots)), Calls: float64(total), Least: math.Inf(1), Decisive: 1}
	with := 0
	for _, i := range slots {
		k := c.in[i][id]
		x.Least, x.Most = min(x.Least, float64(k)), max(x.Most, float64(k))
		x.Loop = x.Loop || c.runs[i][id] >= loopFrom
		if k > 0 {
			with++
		}
	}
	if idle := c.idle[id]; idle > 0 && c.idleFor > 0 {
		expected := float64(idle) / c.idleFor * length
		// So many may come by chance where the rate is that of the idle time: three times
		// the standard deviation of both counts.
		if float64(total) <= expected+3*math.Sqrt(expected+1)*math.Sqrt(1+length/c.idleFor) {
			return x, false
		}
		x.Calls = float64(total) - expected
		x.Note = fmt.Sprintf("%d of them came while nothing was asked, too: %.3g a request taken off", idle, expected/n)
	}
	x.PerRequest = x.Calls / n
	if with == 1 && len(slots) > 2 {
		x.Class = kasoku.CallerPossible
		x.Note = fmt.Sprintf("in one of %d requests only", len(slots))
	}
	if x.PerRequest >= lookupsFrom {
		x.List, x.Slope, x.Correlation = c.list(id, slots)
	}
	return x, true
}

// list returns the class whose rows a class of statements is looked up for: that
// whose rows go up and down with it most.
func (c *count) list(id string, slots []int) (list string, slope, correlation float64) {
	lookups := make([]float64, len(slots))
	for k, i := range slots {
		lookups[k] = float64(c.in[i][id])
	}
	candidates := map[string]bool{}
	for _, i := range slots {
		for other := range c.in[i] {
			candidates[other] = other != id
		}
	}
	names := make([]string, 0, len(candidates))
	for other, is := range candidates {
		if is {
			names = append(names, other)
		}
	}
	slices.Sort(names)
	rows := make([]float64, len(slots))
	for _, other := range names {
		calls := 0
		for k, i := range slots {
			calls += c.in[i][other]
			rows[k] = float64(c.rows[i][other])
		}
		if calls > listsTo*len(slots) {
			continue
		}
		s, r := fitLine(rows, lookups)
		if r >= leastCorrelation && s >= leastSlope && s <= mostSlope && r > correlation {
			list, slope, correlation = other, s, r
		}
	}
	return list, slope, correlation
}

// fitLine returns how many ys come for each x, and how well the two go together, 0..1.
// Where x never changes, only an equal number in each request is a fit.
func fitLine(x, y []float64) (slope, r float64) {
	n := float64(len(x))
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx, sy, sxx, syy, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	vx, vy, cov := sxx-sx*sx/n, syy-sy*sy/n, sxy-sx*sy/n
	if sx < 2*n { // lists of fewer than two rows
		return 0, 0
	}
	if vx <= 1e-9*sxx || vy <= 1e-9*syy {
		if slices.Equal(x, y) {
			return 1, 1
		}
		return 0, 0
	}
	return cov / vx, cov / math.Sqrt(vx*vy)
}

// background returns what came while nothing was asked, the most frequent first.
func (c *count) background() []Background {
	var out []Background
	for id, n := range c.idle {
		b := Background{QueryID: id, Fingerprint: c.of[id].Fingerprint, Count: n}
		if c.idleFor > 0 {
			b.PerSec = float64(n) / c.idleFor
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Background) int {
		return cmp.Or(b.Count-a.Count,
			cmp.Compare(a.QueryID, b.QueryID))
	})
	return out
}

// classes returns the classes that callers name, in their order.
func (c *count) classes(callers []kasoku.Caller) []kasoku.Query {
	var out []kasoku.Query
	done := map[string]bool{}
	for _, x := range callers {
		for _, id := range []string{x.QueryID, x.List} {
			if q := c.of[id]; q != nil && !done[id] {
				done[id] = true
				q := *q
				q.Host = c.host
				out = append(out, q)
			}
		}
	}
	return out
}

// setShares sets which part of the statements of a class that the requests issued is an
// endpoint's.
func setShares(callers []kasoku.Caller) {
	all := map[string]float64{}
	for _, x := range callers {
		all[x.QueryID] += x.Calls
	}
	for i := range callers {
		if n := all[callers[i].QueryID]; n > 0 {
			callers[i].Share = callers[i].Calls / n
		}
	}
}

func nan() float64 { return math.NaN() }
