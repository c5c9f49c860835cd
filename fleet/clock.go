package fleet

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic returns CLOCK_MONOTONIC, in which all processes of a host agree.
func Monotonic() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, fmt.Errorf("read monotonic clock: %w", err)
	}
	return time.Duration(ts.Nano()), nil
}

// both returns one moment on CLOCK_MONOTONIC and as a time. A thread that is held up between the two readings would
// have them milliseconds apart; of some pairs the closest counts.
func both() (clock time.Duration, now time.Time, err error) {
	const tries, close = 8, 2 * time.Microsecond
	least := time.Duration(-1)
	for range tries {
		before, err := Monotonic()
		if err != nil {
			return 0, now, err
		}
		at := time.Now()
		after, err := Monotonic()
		if err != nil {
			return 0, now, err
		}
		if apart := after - before; least < 0 || apart < least {
			clock, now, least = before+apart/2, at, apart
		}
		if least <= close {
			break
		}
	}
	return clock, now, nil
}

// TimeOf returns a moment on CLOCK_MONOTONIC as a time with a monotonic reading.
func TimeOf(clock time.Duration) (time.Time, error) {
	at, now, err := both()
	return now.Add(clock - at), err
}

// ClockOf returns a time, which has a monotonic reading, on CLOCK_MONOTONIC.
func ClockOf(t time.Time) (time.Duration, error) {
	at, now, err := both()
	return at - now.Sub(t), err
}

// ClockAnswer is what a host says to a question about its clock.
type ClockAnswer struct {
	Received, Sent time.Duration // Clock: when the question came, when the answer went
}

// An Exchange is one question about a clock and its answer. Asked and Answered are of the
// clock of who asked.
type Exchange struct {
	Asked, Answered time.Duration
	ClockAnswer
}

// Offset returns what the host's clock shows more than that of who asked, and by how much
// that can be wrong: the way there and back took so long together, and nothing shows how
// it was divided. As in NTP (RFC 5905, section 8), whose error bound is half the round trip.
func (x Exchange) Offset() (offset, bound time.Duration) {
	trip := (x.Answered - x.Asked) - (x.Sent - x.Received)
	there, back := x.Received-x.Asked, x.Sent-x.Answered
	return there/2 + back/2, trip/2 + 1
}

// plausible reports whether an answer can be: a host that says that it sent before it
// received, or held the question for longer than the whole exchange took, is wrong.
func (x Exchange) plausible() bool {
	return x.Answered >= x.Asked && x.Sent >= x.Received && x.Sent-x.Received <= x.Answered-x.Asked
}

// Nearest returns the exchange with the least bound; ok is false when none is plausible.
func Nearest(all []Exchange) (best Exchange, ok bool) {
	for _, x := range all {
		if !x.plausible() {
			continue
		}
		_, bound := x.Offset()
		if _, least := best.Offset(); !ok || bound < least {
			best, ok = x, true
		}
	}
	return best, ok
}
