// Package story is the write-up of the contest, as steps of the lab. It is a package of its own
// since the service and the benchmark share no code but that of package isuumo.
package story

import (
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/writeup"
)

// Of returns the write-up, whose steps [StepOf] has, and at its end the one of another
// team, which kept all rows in memory. The score's scale is our benchmark's own.
func Of() *writeup.Story {
	none := writeup.Missing
	return &writeup.Story{
		Lab: "isuumo", About: "which index, and what it cannot do",
		Figures: []writeup.Figure{
			{Key: "score", Name: "score"},
			{Key: "polygon_mean_s", Name: "polygon search, mean", Unit: "s", Less: true},
		},
		Steps: []writeup.Step{
			{Name: "shipped", Did: "the service as it was shipped"},
			{Name: "ranges", Saw: "mysqld uses the CPU; ranges of rent and width stop the rest of an index",
				Did:     "columns with the range's id, written by triggers, an index for each filter",
				Against: []string{"shipped"}, Author: []float64{1144}, Expect: writeup.Better},
			{Name: "descending", Saw: "EXPLAIN: no index for ORDER BY popularity DESC, id ASC",
				Did:     "indexes in that order",
				Against: []string{"ranges"}, Author: []float64{1200, 0.401}},
			{Name: "spatial", Saw: "the polygon search is the slowest query; its index is not used",
				Did:     "a point with SRID 0, NOT NULL, a spatial index, one query",
				Against: []string{"descending"}, Author: []float64{1819, 0.063}},
			{Name: "counted", Saw: "SELECT COUNT(*) is third in the slow log",
				Did: "counters in the service, made by /initialize, changed with each write", Against: []string{"spatial"}, Author: []float64{2070, none}},
			{Name: "split", Saw: "searches read rows with texts of which they show 25",
				Did: "a narrow table to search, which triggers keep, beside the rows", Against: []string{"counted"}},
			{Name: "memory", Saw: "mysqld 707 % of 800", Did: "all rows in memory, answers encoded beforehand",
				Against: []string{"shipped"}, Gain: 41_462.0 / 1335},
		},
	}
}

// StepOf returns the defects that a step of the story has.
func StepOf(name string) isuumo.Defects {
	d, _ := isuumo.Variant(isuumo.Initial) // there is one of that name
	for _, s := range []struct {
		name          string
		mends, brings []string
	}{
		{"shipped", nil, nil},
		{"ranges", []string{"IDX-04", "IDX-05"}, []string{"IDX-05T"}},
		{"descending", []string{"IDX-06"}, nil},
		{"spatial", []string{"IDX-07", "QRY-04"}, nil},
		{"counted", []string{"QRY-08"}, []string{"QRY-08K"}},
		{"split", []string{"QRY-03"}, []string{"QRY-03S"}},
		{"memory", append([]string{"IDX-05T", "QRY-03S", "QRY-08K"}, d...), nil},
	} {
		d = slices.DeleteFunc(slices.Clone(d), func(id string) bool { return slices.Contains(s.mends, id) })
		d = append(d, s.brings...)
		if s.name == name {
			break
		}
	}
	return d
}
