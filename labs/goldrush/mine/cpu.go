package mine

import (
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// Tick is the unit of the CPU that is shared out.
const Tick = 100 * time.Microsecond

// The virtual CPU. Ticks come in tens, each millisecond.
const (
	tick      = Tick
	milli     = time.Millisecond
	perMilli  = int(milli / tick)
	mostSaved = 2 * perMilli // for those who come later
)

// A job is a request that waits for the CPU, or for the time of its answer.
type job struct {
	request goldrush.Request
	reply   func(goldrush.Answer)
	left    int  // ticks
	over    bool // it was answered, or its client is gone
}

// A cpu gives its ticks to the jobs in turn, one each, so that all that wait are served side
// by side, and a short one is not held up by a long one.
type cpu struct {
	millis int64 // whose ticks have come
	saved  int
	queue  ring
	live   int // jobs of the queue that are not over
	used   [goldrush.Calls]int64
}

// begin hands a job in, and reports whether what was saved is enough for it.
func (c *cpu) begin(j *job, ticks int) (done bool) {
	j.left = ticks
	if c.live == 0 {
		n := min(c.saved, j.left)
		c.saved, j.left = c.saved-n, j.left-n
		c.used[j.request.Call] += int64(n)
	}
	if j.left == 0 {
		return true
	}
	c.live++
	c.queue.push(j)
	return false
}

// next returns when the next ticks come, and whether anything waits for them.
func (c *cpu) next() (time.Duration, bool) {
	return time.Duration(c.millis+1) * milli, c.live > 0
}

// step takes the ticks of one millisecond. It calls done for each job that has all of its own.
func (c *cpu) step(done func(*job)) {
	c.millis++
	c.saved = min(c.saved+perMilli, mostSaved)
	for c.saved > 0 && c.live > 0 {
		j := c.queue.pop()
		if j.over {
			continue
		}
		j.left--
		c.saved--
		c.used[j.request.Call]++
		if j.left > 0 {
			c.queue.push(j)
			continue
		}
		c.live--
		done(j)
	}
}

// idle goes on to a time at which nothing has waited.
func (c *cpu) idle(now time.Duration) {
	if n := int64(now/milli) - c.millis; n > 0 {
		c.millis += n
		c.saved = int(min(int64(c.saved)+n*int64(perMilli), int64(mostSaved)))
	}
}

// leave takes a job out that waits.
func (c *cpu) leave(j *job) {
	if !j.over && j.left > 0 {
		c.live--
	}
}

// A ring is a queue of jobs.
type ring struct {
	all  []*job // a power of two long
	head int
	len  int
}

func (r *ring) push(j *job) {
	if r.len == len(r.all) {
		grown := make([]*job, max(64, 2*len(r.all)))
		for i := range r.len {
			grown[i] = r.all[(r.head+i)&(len(r.all)-1)]
		}
		r.all, r.head = grown, 0
	}
	r.all[(r.head+r.len)&(len(r.all)-1)] = j
	r.len++
}

// pop returns the oldest job of a ring that has one.
func (r *ring) pop() *job {
	j := r.all[r.head]
	r.all[r.head] = nil
	r.head, r.len = (r.head+1)&(len(r.all)-1), r.len-1
	return j
}
