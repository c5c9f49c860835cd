package tie

// mostBytes is the most memory, more or less, of all that is kept, so that no program of the service can
// make it large. The garbage collector lets as much again come together.
const mostBytes = 20 << 20

// What is kept takes so many bytes, with its place in maps, texts apart.
const (
	unitBytes      = 160
	servingBytes   = 320 // the request that a unit had last
	connBytes      = 320
	requestBytes   = 480
	usedBytes      = 64 // a class of statements in one request
	preparedBytes  = 64
	classBytes     = 320
	tallyBytes     = 480
	callsBytes     = 136 // a class of statements of one endpoint
	externalBytes  = 320
	programBytes   = 96
	loneBytes      = 48
	mostWaiting    = 100_000 // statements of no request so far, in all
	shortestDigest = 256     // the key of a longer fingerprint is a sum
)

// A budget is how much of mostBytes is used.
type budget struct{ used int }

// take reports whether there is room, and takes it.
func (b *budget) take(n int) bool {
	if b.used+n > mostBytes {
		return false
	}
	b.used += n
	return true
}

// give gives room back.
func (b *budget) give(n int) { b.used -= n }

// hold takes room for what a connection has of a request that is not whole. Where there is none it returns
// false, and that is forgotten: what comes next on the connection is not known before a call begins a request.
func (b *budget) hold(c *conn) (room bool) {
	n := c.requests.Held()
	room = n <= c.held || b.take(n-c.held)
	if !room {
		c.requests.Forget()
		n = 0
	}
	if n < c.held {
		b.give(c.held - n)
	}
	c.held = n
	return room
}
