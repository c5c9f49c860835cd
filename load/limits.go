package load

// MaxResponseHeader is how many bytes the header of an answer may have, those of
// the 1xx answers before it included. Every engine takes a longer one as a
// failure, so that a server cannot make the generator hold more.
const MaxResponseHeader = 1 << 20

// DefaultMaxInFlight is enough for 10,000 requests a second that take a second
// each. Without a cap a server that stalls makes the generator open connections
// until both are out of memory.
const DefaultMaxInFlight = 10_000

// MaxInFlight returns the cap on requests in flight where none was asked for:
// [DefaultMaxInFlight], less when this process may have fewer files open.
func MaxInFlight() int {
	if n := openDescriptors(); n > 0 {
		// What is left over is for logs, the database and the recorder.
		return max(min(DefaultMaxInFlight, n-n/8-32), 16)
	}
	return DefaultMaxInFlight
}
