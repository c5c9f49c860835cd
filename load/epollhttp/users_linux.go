//go:build amd64 || arm64

package epollhttp

import (
	"time"

	"github.com/kasoku/kasoku/load"
)

// users are those of a closed loop: each sends, has its answer, and thinks.
type users struct {
	loop     *load.ClosedLoop
	ready    int      // could send now
	thinking thoughts // when the others have thought enough

	paced struct { // how fast answers came when they were last counted
		at, gap time.Duration
		answers uint64
	}
}

// wake makes those ready that have thought enough.
func (u *users) wake(at time.Duration) {
	for len(u.thinking) > 0 && u.thinking[0] <= at {
		u.thinking.pop()
		u.ready++
	}
}

// think lets the user that sent request n think, or be ready again.
func (u *users) think(n uint64, at time.Duration) {
	d := u.loop.Think(n)
	if d == 0 {
		u.ready++
		return
	}
	if at += d; at < u.loop.End {
		u.thinking.push(at)
	}
}

// stop ends all users: none is ready, and none thinks.
func (u *users) stop() { u.ready, u.thinking = 0, u.thinking[:0] }

// next returns when one of them can send, which is not before a time.
func (u *users) next(at time.Duration) time.Duration {
	switch {
	case u.ready > 0:
		return max(at, 0)
	case len(u.thinking) > 0:
		return u.thinking[0]
	}
	return never
}

const (
	// Answers are collected for 1/crowdShare of a user's round, from one request to
	// the next, and for crowdTime at most. A server that is the bottleneck is not
	// slowed down, as it has other requests to do; with one that is not, half of that
	// time is lost, 3 % of the throughput.
	crowdShare = 16
	crowdTime  = 100 * time.Microsecond

	// crowdLeast is how many answers must be expected.
	crowdLeast = 3

	// paceTime is over how long the pace of answers is measured.
	paceTime = time.Millisecond
)

// crowd returns for how long to let answers come together, and whether that is worth a
// sleep. It keeps the pace of answers.
func (u *users) crowd(at, until time.Duration, answers uint64, flying int64) (d time.Duration, worth bool) {
	p := &u.paced
	if since := at - p.at; since >= paceTime {
		p.gap = since / time.Duration(max(answers-p.answers, 1))
		p.at, p.answers = at, answers
	}
	d = min(time.Duration(flying)*p.gap/crowdShare, crowdTime, until-at)
	return d, d >= crowdLeast*p.gap && p.gap > 0
}

// thoughts are the times at which users have thought enough: a heap.
type thoughts []time.Duration

func (t *thoughts) push(at time.Duration) {
	h := append(*t, at)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*t = h
}

func (t *thoughts) pop() {
	h := *t
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < n && h[down+1] < h[down] {
			down++
		}
		if down >= n || h[i] <= h[down] {
			break
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
	*t = h
}
