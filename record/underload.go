package record

import "time"

// underLoad is what is taken once while the load goes on, when it has gone on for a while:
// profiles, a trace.
type underLoad struct {
	profiles *profiles
	tracing  *tracing
}

// begin notes that the load begins. known is how long it will take, 0 when that is not known.
// The first call counts.
func (u *underLoad) begin(from, known time.Duration) {
	u.profiles.begin(from, known)
	u.tracing.begin(from, known)
}

// end notes that the load has ended.
func (u *underLoad) end() {
	u.tracing.endLoad()
	u.profiles.endLoad()
}
