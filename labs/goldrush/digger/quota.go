package digger

import "time"

// A quota is how much of a call the client sends a second: a little at once, the rest evenly,
// so that the server never sees more than it lets in.
type quota struct {
	perSec float64 // 0: any
	tokens float64
	at     time.Duration
	until  time.Duration // nothing is sent before
}

// atOnce is the part of a second's requests that may be sent at once.
const atOnce = 0.02

func newQuota(perSec float64) quota { return quota{perSec: perSec, tokens: perSec * atOnce} }

// have reports whether a request may be sent, or else when.
func (q *quota) have(now time.Duration) (at time.Duration, ok bool) {
	switch {
	case now < q.until:
		return q.until, false
	case q.perSec == 0:
		return 0, true
	}
	q.tokens = min(q.tokens+(now-q.at).Seconds()*q.perSec, max(1, q.perSec*atOnce))
	q.at = now
	if q.tokens >= 1 {
		return 0, true
	}
	wait := time.Duration((1 - q.tokens) / q.perSec * float64(time.Second))
	return now + wait + time.Microsecond, false
}

func (q *quota) take() { q.tokens-- }

// pause is how long a call is not sent after the server has refused one as too many.
const pause = 50 * time.Millisecond

func (q *quota) refused(now time.Duration) { q.until = now + pause }
