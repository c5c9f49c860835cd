package process

// lingerTicks is how long the long files of a process stay open when it is no longer
// watched: it is likely to be again.
const lingerTicks = 5

// othersShare is how much of the top processes may be of no tree, where those of trees
// would take all.
const othersShare = 0.5

// A watchlist is which processes have series of their own: those that were named, and
// the top ones by CPU, those of trees first: a service that does little beside busy
// neighbours is what is measured.
type watchlist struct {
	r            *reader
	top          int
	now          []*process // at this tick
	best, others []*process // scratch of choose: of trees, and of none; most CPU first
	ever         uint64     // processes that were watched at some tick
}

// choose sets w.now to the named processes and the top ones by CPU of the
// others, and closes the long files of those that are no longer among them.
func (w *watchlist) choose(live []*process, tick uint64) {
	clear(w.now)
	w.now, w.best, w.others = w.now[:0], w.best[:0], w.others[:0]
	for _, p := range live {
		switch {
		case p.seen.unread, p.passing() && !p.named:
		case p.named:
			w.now = append(w.now, p)
		case p.cpu.sum() > 0 && !p.stat.Dead() && w.lasting(p, tick):
			if p.tree != nil {
				w.best = rank(w.best, p, w.top)
			} else {
				w.others = rank(w.others, p, w.top)
			}
		}
	}
	best := min(len(w.best), w.top-min(len(w.others), int(othersShare*float64(w.top))))
	w.now = append(append(w.now, w.best[:best]...), w.others[:min(len(w.others), w.top-best)]...)
	for _, p := range w.now {
		if p.watchedAt == 0 {
			w.ever++
		}
		p.watchedAt = tick
	}
	for _, p := range live {
		if p.details != nil && tick-p.watchedAt > lingerTicks {
			p.closeDetails(w.r)
		}
	}
}

// A host that starts programs all the time, as a build does, would give each of them
// series of its own, of one or two points: a process is watched from the second tick
// that sees it, and one tick later for each lastingShare that were watched before, at
// most lastingMost. Its CPU time is in that of its executable from the first.
const (
	lastingShare = 50
	lastingMost  = 15
)

// lasting reports whether a process has been there long enough to be watched; those
// that were there when it all began have.
func (w *watchlist) lasting(p *process, tick uint64) bool {
	return p.watchedAt > 0 || p.seen.born <= 1 || tick-p.seen.born >= min(1+w.ever/lastingShare, lastingMost)
}

// rank inserts a process into the best ones, most CPU first; of equals, the one
// that is listed first.
func rank(best []*process, p *process, most int) []*process {
	at := len(best)
	for at > 0 && best[at-1].cpu.sum() < p.cpu.sum() {
		at--
	}
	if at >= most {
		return best
	}
	if len(best) < most {
		best = append(best, nil)
	}
	copy(best[at+1:], best[at:])
	best[at] = p
	return best
}
