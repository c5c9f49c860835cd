package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// A LoadProgress is how far a load is, with what its last whole second was like.
type LoadProgress struct {
	Number, Of int           // of the step that is under way, and of all; Of below 2 is not shown
	Elapsed    time.Duration // of the whole load
	Planned    time.Duration // 0: until it is stopped

	PerSec   float64 // answers that were due in the last second; below 0 before the first one is over
	Asked    float64 // now; 0 without a rate
	P50, P99 time.Duration
	Errors   uint64 // so far
	InFlight int    // requests that have been due for a moment and are not answered; below 0 when it is not known
}

// Load redraws the line of a load:
//
//	4 of 10 s  ━━━━────────    998 of 1,000/s  p50 0.21 ms  p99 0.98 ms  0 err  12 in flight
//
// Where there is no room the bar becomes shorter, then parts go. Off a terminal it
// writes nothing.
func (p *Progress) Load(s LoadProgress) {
	if !p.o.Live {
		return
	}
	head := s.times()
	if s.Of > 1 {
		head = fmt.Sprintf("step %d/%d  ", s.Number, s.Of) + head
	}
	rest := s.parts()
	room := func() int {
		left := p.o.Width - width(head)
		for _, x := range rest {
			left -= 2 + width(x.text)
		}
		return left - 2
	}
	for _, name := range []string{" in flight", "p50 ", "p99 "} {
		if room() >= leastRail {
			break
		}
		rest = slices.DeleteFunc(rest, func(x piece) bool { return strings.Contains(x.text, name) })
	}
	line := []piece{{head, plain}}
	if left := room(); s.Planned > 0 && left >= leastRail {
		full, empty := rail(share(s.Elapsed, s.Planned), min(left, railCells))
		line = append(line, piece{"  ", plain}, piece{full, cyan}, piece{empty, dim})
	}
	for _, x := range rest {
		line = append(line, piece{"  ", plain}, x)
	}
	p.redraw(line)
}

// times is "4 of 10 s", and "4 s" of a load that has no end.
func (s LoadProgress) times() string {
	if s.Planned <= 0 {
		return unit.Exact(s.Elapsed.Truncate(time.Second))
	}
	if s.Planned < time.Minute {
		planned := unit.Exact(s.Planned)
		digits, _, _ := strings.Cut(planned, " ")
		return fmt.Sprintf("%*s of %s", len(digits), unit.Count(int64(s.Elapsed/time.Second)), planned)
	}
	return unit.Exact(s.Elapsed.Truncate(time.Second)) + " of " + unit.Exact(s.Planned)
}

// parts are the figures.
func (s LoadProgress) parts() []piece {
	var out []piece
	add := func(st style, text string) { out = append(out, piece{text, st}) }
	if s.PerSec >= 0 {
		rate := unit.Plain(float64(int64(s.PerSec + 0.5)))
		if s.Asked > 0 {
			asked := unit.Plain(s.Asked)
			rate = fmt.Sprintf("%*s of %s", width(asked), rate, asked)
		}
		add(plain, rate+"/s")
		if s.P99 > 0 {
			add(plain, "p50 "+glance(s.P50))
			add(plain, "p99 "+glance(s.P99))
		}
	}
	add(errStyle(s.Errors), unit.Count(s.Errors)+" err")
	if s.InFlight >= 0 {
		add(dim, unit.Count(s.InFlight)+" in flight")
	}
	return out
}
