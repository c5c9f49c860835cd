package sample

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Groups returns five runs a side of a scored benchmark: the score rises, two runs
// of after fail, and the statements for each request fall.
func Groups() (before, after []*kasoku.Recording) {
	scores := [2][]float64{{17618, 17902, 17540, 18138, 17711}, {20127, 21044, 19870, 20466, 20950}}
	for i := range 5 {
		x := float64([]int{0, 2, -1, 1, -2}[i]) * 0.02
		b, a := Try("base", 1, 30.3*(1+x), 88*(1+x), 240*(1+2*x), 610), Try("bulk", 1, 29.8*(1-x), 61*(1-x), 150*(1+x),
			402)
		before, after = append(before, repeated(b, i, "main@4f2c91e", 3010, scores[0][i])),
			append(after, repeated(a, i, "main@9b07d3a", 1004, scores[1][i]))
	}
	for _, i := range []int{1, 4} {
		after[i].Run.Score.Outcome = kasoku.Failed
	}
	return before, after
}

func repeated(r *kasoku.Recording, i int, revision string, statements, score float64) *kasoku.Recording {
	r.Run.Group, r.Run.Repeat, r.Run.Revision = r.Run.ID, i+1, revision
	r.Run.ID += fmt.Sprintf("-%d", i+1)
	r.Run.Started = r.Run.Started.Add(time.Duration(i) * 90 * time.Second)
	r.Run.Score = &kasoku.Score{Value: score, Outcome: kasoku.Passed, Source: "output, JSON score"}
	n := int(r.Run.Length / time.Second)
	r.Series = []kasoku.Series{counter("mysql", mysql.Questions, "", "count", level(n, statements+float64(i)))}
	return r
}
