package bench

import (
	"time"

	"github.com/kasoku/kasoku/load/scenario"
)

// Times of the contest.
const (
	initializeTimeout = 30 * time.Second
	verifyTimeout     = 10 * time.Second // for all of the contest's own verification
	requestTimeout    = 2 * time.Second
	uploadTimeout     = 5 * time.Second
	loadTime          = time.Minute

	patience = time.Second // a page that takes longer is given up: no point, no message

	thinkTime    = 100 * time.Millisecond // before each visit, at most
	giveUpPause  = 1500 * time.Millisecond
	giveUpSpread = 50 * time.Millisecond // of the pause, either way
	failedSpread = 250 * time.Millisecond

	crawlPause   = 500 * time.Millisecond
	crawlSpread  = 50 * time.Millisecond
	uploadPause  = 500 * time.Millisecond
	uploadSpread = 50 * time.Millisecond
)

// Times of what the contest's benchmark does not do.
const (
	thoroughTimeout = 90 * time.Second // for all queries that verify; the service as shipped takes a good part of it
	validateTimeout = 2 * time.Minute
	patientTimeout  = 10 * time.Second // of one request in these
)

// Sizes of the contest.
const (
	perPage        = 25 // of users
	crawlPerPage   = 10
	maxPages       = 5 // of which one is drawn
	searches       = 2 // of a visit
	pages          = 2 // that are drawn after each search
	looks          = 2 // at details
	verifyOfEach   = 5
	verifyThorough = 100
)

// Scores of the contest.
const (
	tagBuy      scenario.Tag = "buy"
	tagDocument scenario.Tag = "req_doc"

	deduction = 50 // points, for each error of the application
)

// contestLevels are the points at which level 1, 2, … begin.
func contestLevels() []int64 {
	return []int64{300, 600, 800, 900, 1000, 1100, 1200, 1300, 1450, 1600, 1800}
}

// rising returns how many workers of a kind there are at a level: first from one
// level on, and one more at each level from the third on.
func rising(from, first int) func(level int) int {
	return func(level int) int {
		n := max(0, level-2)
		if level >= from {
			n += first
		}
		return n
	}
}

// uploads returns how many files of each kind are uploaded when a level begins.
func uploads(level int) int {
	if level >= 2 {
		return 1
	}
	return 0
}
