package join

import (
	"encoding/binary"
	"slices"
)

const (
	// busyGap is the longest time between two statements, in µs, in which their
	// connection still counts as busy.
	busyGap = 10_000
	// usedUp is the part of the open connections that is busy when requests wait for
	// connections: measured 0.93 and more, and 0.3 to 0.8 otherwise.
	usedUp = 0.9
	// chunkGap is how soon, in µs, the next statement on a connection comes from the
	// same request: measured in 96 to 99 of 100 cases.
	chunkGap = 200
	// longestTransaction bounds a transaction whose end is not seen.
	longestTransaction = 1000
	// A run is of at least runLeast statements of a class with gaps below runGap µs,
	// among at most runCycle classes.
	runGap   = 1000
	runLeast = 5
	runCycle = 3
)

// A chunk is what one request surely runs together.
type chunk struct {
	start, end int64 // µs, the latest
	slack      int64 // by how much it may have been earlier
	kind       int32
	at, n      int32 // in work.member
}

// A kind is the class of a chunk: the set of its queries.
type kind struct {
	queries []int32
	run     bool // one of them comes in runs
}

// connections counts open and busy connections. A connection is busy in a
// statement and in the short time until the next: where requests wait for
// connections, one that is given back is taken at once.
func (w *work) connections() {
	slots := min((w.res.To-w.res.From)/busyGap+2, 1<<20)
	slot := func(t int64) int64 { return min(max((t-w.res.From)/busyGap, 0), slots-1) }
	open := make([]int32, slots+1)
	busy := int64(0)
	var all span
	for i := 0; i < len(w.events); {
		conn := w.events[i].Conn
		first, last := slot(w.events[i].Start), int64(0)
		var held span
		for ; i < len(w.events) && w.events[i].Conn == conn; i++ {
			e := &w.events[i]
			start, end := e.Start-e.Slack/2, e.End-e.Slack/2
			if held.any && start-held.to > busyGap {
				busy += held.to - held.from
				held = span{}
			}
			held.add(start, end)
			all.add(start, end)
			last = max(last, slot(end))
		}
		busy += held.to - held.from
		w.res.Connections++
		open[first]++
		open[last+1]--
	}
	var opens []int32
	now := int32(0)
	for _, change := range open[:slots] {
		if now += change; now > 0 {
			opens = append(opens, now)
		}
	}
	if len(opens) == 0 || all.to <= all.from {
		return
	}
	slices.Sort(opens)
	w.res.Busy = float64(busy) / float64(all.to-all.from)
	// A pool that closes idle connections has few open ones just because few are
	// busy; what counts is how many it opens when it needs them.
	w.res.Open = float64(opens[len(opens)*95/100])
	w.res.Saturated = w.res.Busy >= usedUp*w.res.Open && w.res.Open > 1
}

// chunk puts together what one request runs.
func (w *work) chunk() {
	ids := map[string]int32{}
	var key []byte
	var set []int32
	for i := 0; i < len(w.events); {
		n := w.transaction(i)
		if !w.res.Saturated && w.exact {
			for i+n < len(w.events) && w.near(i+n-1, i+n) {
				n += w.transaction(i + n)
			}
		}
		c := chunk{start: w.events[i].Start, end: w.events[i].End, slack: w.events[i].Slack, at: int32(len(w.member)),
			n: int32(n)}
		set, key = set[:0], key[:0]
		for k := i; k < i+n; k++ {
			e := &w.events[k]
			c.start, c.end, c.slack = min(c.start, e.Start), max(c.end, e.End), min(c.slack, e.Slack)
			w.member = append(w.member, int32(k))
			if !slices.Contains(set, e.Query) {
				set = append(set, e.Query)
			}
		}
		slices.Sort(set)
		for _, q := range set {
			key = binary.LittleEndian.AppendUint32(key, uint32(q))
		}
		id, known := ids[string(key)]
		if !known {
			id = int32(len(w.kinds))
			ids[string(key)] = id
			k := kind{queries: slices.Clone(set)}
			for _, q := range set {
				k.run = k.run || w.runType[q]
			}
			w.kinds = append(w.kinds, k)
		}
		c.kind = id
		w.chunks = append(w.chunks, c)
		i += n
	}
}

// transaction returns how many events from i on are one transaction; 1 when none
// begins there or its end is not seen.
func (w *work) transaction(i int) int {
	if !w.in.Queries[w.events[i].Query].Begin || w.events[i].Conn == 0 {
		return 1
	}
	for k := i + 1; k < len(w.events) && k < i+longestTransaction && w.events[k].Conn == w.events[i].Conn; k++ {
		switch info := w.in.Queries[w.events[k].Query]; {
		case info.Begin:
			return 1
		case info.Commit, info.Rollback:
			return k - i + 1
		}
	}
	return 1
}

// near reports whether event b follows a on its connection at once.
func (w *work) near(a, b int) bool {
	x, y := &w.events[a], &w.events[b]
	return x.Conn == y.Conn && x.Conn != 0 && y.Start-x.End < chunkGap && y.Start >= x.Start
}

// loops looks for runs on connections.
func (w *work) loops() {
	w.runType = make([]bool, len(w.in.Queries))
	if w.res.Saturated {
		return
	}
	found := map[string]*Loop{}
	for i := 0; i < len(w.events); {
		n := w.runFrom(i, found)
		i += n
	}
	for _, l := range found {
		w.res.Loops = append(w.res.Loops, *l)
		if l.Runs < leastRuns {
			continue
		}
		for _, q := range l.Queries {
			w.runType[q] = true
		}
	}
	slices.SortFunc(w.res.Loops, func(a, b Loop) int {
		if a.Calls != b.Calls {
			if a.Calls > b.Calls {
				return -1
			}
			return 1
		}
		return slices.Compare(a.Queries, b.Queries)
	})
}

// leastRuns is how many runs a class must be seen in: one is chance.
const leastRuns = 3

// runFrom adds to found the run that begins at i and returns its length, or 1.
func (w *work) runFrom(i int, found map[string]*Loop) int {
	var queries [runCycle]int32
	var counts [runCycle]uint64
	var values [runCycle]asked
	distinct, n := 0, 0
	for k := i; k < len(w.events); k++ {
		e := &w.events[k]
		if k > i && (e.Conn != w.events[i].Conn || e.Conn == 0 || e.Start-w.events[k-1].End >= runGap) {
			break
		}
		at := slices.Index(queries[:distinct], e.Query)
		if at < 0 {
			if distinct == runCycle {
				break
			}
			at = distinct
			queries[at] = e.Query
			distinct++
		}
		counts[at]++
		values[at].add(e.Literals)
		n++
	}
	if slices.Max(counts[:]) < runLeast {
		return 1
	}
	var turn []int32
	calls := uint64(0)
	for k := range distinct {
		if counts[k] >= runLeast {
			turn = append(turn, queries[k])
			calls += counts[k]
		}
	}
	slices.Sort(turn)
	var key []byte
	for _, q := range turn {
		key = binary.LittleEndian.AppendUint32(key, uint32(q))
	}
	l := found[string(key)]
	if l == nil {
		l = &Loop{Queries: turn, Known: make([]uint64, len(turn)), Different: make([]uint64, len(turn))}
		found[string(key)] = l
	}
	for k := range distinct {
		if at := slices.Index(turn, queries[k]); at >= 0 {
			l.Known[at] += values[k].known
			l.Different[at] += uint64(len(values[k].values))
		}
	}
	l.Runs++
	l.Calls += calls
	l.Longest = max(l.Longest, calls)
	return n
}
