package mine

import "time"

// A limit lets so many requests in each second, and as many at once.
type limit struct {
	perSec int // 0: all
	have   float64
	at     time.Duration
}

func newLimit(perSec int) limit { return limit{perSec: perSec, have: float64(perSec)} }

// allow lets a request in, or does not.
func (l *limit) allow(now time.Duration) bool {
	if l.perSec == 0 {
		return true
	}
	l.have = min(l.have+(now-l.at).Seconds()*float64(l.perSec), float64(l.perSec))
	l.at = now
	if l.have < 1 {
		return false
	}
	l.have--
	return true
}
