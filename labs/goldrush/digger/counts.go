package digger

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// Counts are what a client has counted since it began, and how it stands now. It is what a
// run has to keep of each second, for whoever judges the client.
type Counts struct {
	Answers [goldrush.Calls]map[int]int64 // by status; 0: none came
	Busy    [goldrush.Calls]time.Duration // requests in flight, times how long
	Service [goldrush.Calls]time.Duration // sum of the times that answers took
	Cells   map[int]Served                // explorations by how many columns they asked for
	Starved time.Duration                 // in which columns waited and no licence had a dig
	// Queued is the time in which columns waited although licences had digs, each with one under way.
	Queued   time.Duration
	MostDigs int // of one licence that were under way at once
	First    First
	Paid     [maxDepth + 1]Paid // treasures that were cashed, by depth

	Found, Earned, Spent int // treasures, coins

	// As it stands.
	Columns, Strips, Finds, Licenses, Digs int
	Asked                                  int   // licences that may still come
	InFlight                               []int // by call
}

// Served is how many answers came, and what they took together.
type Served struct {
	N    int64
	Took time.Duration
}

// A First is what was asked of the first columns, of which nothing was known, and what was
// answered, each as a sum of hashes, so that the order of answers does not matter.
type First struct {
	Columns            int
	Questions, Answers uint64
}

// firstColumns are as many as hold a few dozen treasures: no two worlds have the same there.
const firstColumns = 1000

// Complete reports whether all of them were answered.
func (f *First) Complete() bool { return f.Columns >= firstColumns }

func (f *First) note(s strip, amount int) {
	if s.y > 0 || s.x >= firstColumns {
		return
	}
	f.Columns += s.n
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d", s.x, s.n)
	f.Questions += h.Sum64()
	fmt.Fprintf(h, " %d", amount)
	f.Answers += h.Sum64()
}

// Paid is what came of treasures of one depth.
type Paid struct {
	Served       // cashed
	Coins  int64 // that were paid
}

// Coins returns the coins that are held.
func (c *Counts) Coins() int { return c.Earned - c.Spent }

// Of returns how many answers of a status came, of all calls.
func (c *Counts) Of(status int) (n int64) {
	for _, by := range c.Answers {
		n += by[status]
	}
	return n
}

// All returns how many requests were answered, or were not.
func (c *Counts) All() (n int64) {
	for _, by := range c.Answers {
		for _, of := range by {
			n += of
		}
	}
	return n
}

// MeanInFlight returns how many requests were in flight, in the mean of a time.
func (c *Counts) MeanInFlight(lasted time.Duration) float64 {
	var sum time.Duration
	for _, of := range c.Busy {
		sum += of
	}
	return sum.Seconds() / lasted.Seconds()
}

// Refused returns how many requests were such as a client ought not to send.
func (c *Counts) Refused() (n int64) {
	for _, status := range []int{http.StatusForbidden, http.StatusConflict, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests} {
		n += c.Of(status)
	}
	return n
}

func (c *Counts) note(s *Sent, status int, now time.Duration) {
	call := s.Request.Call
	if c.Answers[call] == nil {
		c.Answers[call] = map[int]int64{}
	}
	c.Answers[call][status]++
	c.Service[call] += now - s.At
	if call == goldrush.Explore {
		if c.Cells == nil {
			c.Cells = map[int]Served{}
		}
		of := c.Cells[s.Request.Area.Cells()]
		c.Cells[s.Request.Area.Cells()] = Served{of.N + 1, of.Took + now - s.At}
	}
}

func (c *Counts) clone() Counts {
	out := *c
	for i := range out.Answers {
		out.Answers[i] = maps.Clone(out.Answers[i])
	}
	out.Cells = maps.Clone(out.Cells)
	return out
}
