package isucholar

import (
	"slices"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/writeup"
)

// story is the write-up. Its score has the contest's points, over a shorter time and with the
// users of our own benchmark, so that only ratios can be compared.
func story() *writeup.Story {
	const queue = "how much a longer queue costs is decided by how many requests are under way"
	return &writeup.Story{
		Lab: "isucholar", About: "why does a larger pool make it slower?",
		Figures: []writeup.Figure{{Key: "score", Name: "score"},
			{Key: "failed_percent", Name: "answered badly", Unit: "%", Less: true}},
		Steps: []writeup.Step{
			{Name: "initial", Did: "the service as it was shipped, ten connections", Author: points(32_810)},
			{Name: "tags", Saw: "COMMIT leads the slow log, and nothing says of what",
				Did:     "a name in each COMMIT, no transaction around what reads",
				Against: []string{"initial"}, Author: points(30_448), Kept: "the slow log says whose COMMITs are dear",
				Differs: "what two round trips fewer bring is decided by what limits the machine"},
			{Name: "commits", Saw: "named COMMITs wait for the disk", Did: "the log is written to disk once a second",
				Against: []string{"tags"}, Gain: 40_492.0 / 33_240, Author: points(40_492),
				Differs: "what a commit costs is the disk's"},
			{Name: "pool-100", Saw: "all connections are in use", Did: "SetMaxOpenConns(100)",
				Against: []string{"commits"}, Author: points(39_072), Differs: queue},
			{Name: "links", Saw: "a process cp for each file of an archive", Did: "hard links",
				Against: []string{"pool-100"}, Author: points(41_368)},
			{Name: "grades", Saw: "GET grades times out: courses × classes × two queries", Did: "one query by a JOIN",
				Against: []string{"links"}, Author: points(42_491)},
			{Name: "totals", Saw: "the grade points of all students, computed at each request",
				Did:     "kept; each score is added to its student's total as it comes: deadlocks",
				Against: []string{"grades"}},
			{Name: "ordered", Saw: "error 1213, in answers too",
				Did:     "scores and totals in one statement each, in order",
				Against: []string{"grades"}, Gain: 75_163.0 / 68_795, Author: points(75_163)},
			{Name: "streams", Saw: "an archive is buffered to a temporary file",
				Did:     "nothing is buffered, neither archives nor what is handed in; io.Copy for io.ReadAll",
				Against: []string{"ordered"}, Author: points(77_029)},
			{Name: "pool-200", Did: "SetMaxOpenConns(200)", Against: []string{"streams"}, Author: points(73_395),
				Differs: queue},
			{Name: "short-lock", Saw: "an export holds the class's row while it packs",
				Did:     "the lock around one UPDATE alone",
				Against: []string{"pool-200"}, Expect: writeup.Better},
		},
	}
}

func points(v float64) []float64 { return []float64{v} }

// variants are the steps of the story.
func variants() []kit.Variant {
	d, pool := kit.Set{"QRY-06", "QRY-07", "LCK-01", "APP-02", "APP-10", "NGX-03", "NGX-04", "DBC-08", "DBC-09"}, 10
	var out []kit.Variant
	for _, s := range []struct {
		name, about   string
		mends, brings kit.Set
		pool          int
	}{
		{"initial", "as it was shipped, ten connections", nil, nil, 0},
		{"tags", "COMMITs say whose they are, what reads has no transaction", kit.Set{"DBC-08", "DBC-09"},
			kit.Set{"DBC-01"}, 0},
		{"commits", "commits do not wait for the disk", kit.Set{"DBC-01"}, nil, 0},
		{"pool-100", "a hundred connections", nil, nil, 100},
		{"links", "an export links files", kit.Set{"APP-02"}, nil, 0},
		{"grades", "grades in one query", kit.Set{"QRY-06"}, nil, 0},
		{"totals", "statistics are kept, totals are added to as scores come", kit.Set{"QRY-07"}, kit.Set{"LCK-02"}, 0},
		{"ordered", "scores and totals come in order", kit.Set{"LCK-02"}, nil, 0},
		{"streams", "nothing is held back, in files of nginx or in memory", kit.Set{"NGX-03", "NGX-04", "APP-10"}, nil, 0},
		{"pool-200", "two hundred connections", nil, nil, 200},
		{"short-lock", "an export holds its row shortly", kit.Set{"LCK-01"}, nil, 0},
	} {
		d = append(slices.DeleteFunc(slices.Clone(d), s.mends.Has), s.brings...)
		if s.pool > 0 {
			pool = s.pool
		}
		out = append(out, kit.Variant{Name: s.name, About: s.about, Defects: d, Pool: pool})
	}
	return out
}
