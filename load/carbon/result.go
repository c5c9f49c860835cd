package carbon

import "time"

// A Second is what was due and done in a stretch of the load, a second unless it is long.
type Second struct {
	From, To    time.Duration // since the start
	Agents      int           // that have begun by its end
	Nominal     uint64        // points that became due
	Sent        uint64        // points that the operating system took
	Acked       uint64        // points that the server's kernel acknowledged; over UDP none is
	Outstanding uint64        // points that are due, and neither sent nor given up, at its end
	Lost        uint64        // points given up: there was no connection, or it broke
	Skipped     uint64        // points of flushes left out, since the one before took too long
	Unsure      uint64        // points sent over a connection that ended before they were acknowledged
	Blocked     time.Duration // that writes waited for the server, the sum of all connections
	Failures    uint64        // connections that could not be made
	Broken      uint64        // connections that the server closed, or that failed
	CPU         time.Duration // of this process
	Memory      uint64        // bytes that this process had resident at its end; 0 when unknown
}

// add makes s the stretch of both; o follows s.
func (s *Second) add(o *Second) {
	s.To, s.Agents, s.Outstanding, s.Memory = o.To, o.Agents, o.Outstanding, max(s.Memory, o.Memory)
	s.Nominal += o.Nominal
	s.Sent += o.Sent
	s.Acked += o.Acked
	s.Lost += o.Lost
	s.Skipped += o.Skipped
	s.Unsure += o.Unsure
	s.Blocked += o.Blocked
	s.Failures += o.Failures
	s.Broken += o.Broken
	s.CPU += o.CPU
}

// A Result is what came of a load.
type Result struct {
	Options         Options
	Started         time.Time
	Seconds         []Second
	Total           Second // of all; Outstanding is what is never sent, Memory the most
	Connections     uint64 // that were made
	PeakOutstanding uint64 // the most that was outstanding at the end of a second
	Stopped         bool   // the context ended before the duration
	LastError       string // of a connection; empty when there was none
}

// mostSeconds is how many stretches are kept: of a longer load each has twice the length.
const mostSeconds = 7200

// put appends a stretch.
func (r *Result) put(s Second) {
	if len(r.Seconds) == mostSeconds {
		for i := range mostSeconds / 2 {
			joined := r.Seconds[2*i]
			joined.add(&r.Seconds[2*i+1])
			r.Seconds[i] = joined
		}
		r.Seconds = r.Seconds[:mostSeconds/2]
	}
	last := len(r.Seconds) - 1
	if len(r.Seconds) > 1 && r.Seconds[last].length() < r.Seconds[last-1].length() {
		r.Seconds[last].add(&s) // it is joined to its length first
	} else {
		r.Seconds = append(r.Seconds, s)
	}
	r.PeakOutstanding = max(r.PeakOutstanding, s.Outstanding)
	r.Total.add(&s)
}

// read appends what was due and done between two readings of all since the start, and returns
// the one to subtract from the next. What is acknowledged is counted by the mean length of a
// point, and may so seem to fall: a stretch has none then, and the total is that of the last.
func (r *Result) read(now, before Second, last bool) Second {
	acked := now.Acked
	now.Acked = max(acked, before.Acked)
	if r.put(now.since(&before)); last {
		r.Total.Acked = acked
	}
	return now
}

// length of the stretch, to the second: ticks come some ms late.
func (s *Second) length() time.Duration { return (s.To - s.From).Round(time.Second) }

// Acknowledges reports whether it is known what the server's kernel has.
func (r *Result) Acknowledges() bool { return r.Total.Acked > 0 }
