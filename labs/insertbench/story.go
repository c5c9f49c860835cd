package insertbench

import "github.com/kasoku/kasoku/labs/writeup"

// Seconds returns how long a round takes at a score, which is rows a second.
func Seconds(score float64) float64 { return rowsOfFile / score }

// story is the write-up. The published figures are of 8 cores and a network disk.
func story() *writeup.Story {
	const (
		waits = "both wait for the disk, which hides what they differ in"
		disk  = "how much it brings is how long the disk takes for a commit"
		left  = "what is left of the disk's time after the recipe"
	)
	return &writeup.Story{
		Lab: "insertbench", About: "is Go slower than Python at inserting rows?",
		Figures: []writeup.Figure{{Key: "seconds_per_round", Name: "a round of 10,000 rows", Unit: "s", Less: true}},
		Steps: []writeup.Step{
			{Name: "go", Did: "one autocommit INSERT a row by db.Exec, over one connection", Author: round(11.708)},
			{Name: "python", Saw: "a compiled program that is slow", Did: "the same program in Python",
				Against: []string{"go"}, Author: round(9.670), Differs: waits},
			{Name: "go-interpolated", Saw: "Go prepares, executes and closes: three answers for a row",
				Did: "interpolateParams=true", Against: []string{"go"}, Author: round(10.540), Differs: waits},
			{Name: "python-recipe", Saw: "the CPU idles at 91 to 97 %, the disk is written 8 MB/s",
				Did:     "innodb_flush_log_at_trx_commit=2, no doublewrite, O_DIRECT_NO_FSYNC",
				Against: []string{"python"}, Author: round(1.519), Differs: disk},
			{Name: "go-recipe", Did: "the same four lines of my.cnf for Go", Against: []string{"go"},
				Author: round(1.770), Differs: disk},
			{Name: "go-recipe-interpolated", Saw: "Go is still slower than Python", Did: "interpolateParams=true again",
				Against: []string{"go-recipe", "python-recipe"}, Author: round(1.197)},
			{Name: "python-memory", Did: "the files of the database in memory", Against: []string{"python-recipe"},
				Author: round(1.395), Differs: left},
			{Name: "go-memory", Did: "likewise for Go", Against: []string{"go-recipe-interpolated", "python-memory"},
				Author: round(1.106), Differs: left},
		},
	}
}

func round(v float64) []float64 { return []float64{v} }
