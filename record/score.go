package record

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/logs/score"
)

// searchedOutput is how much of each output, from its end, is looked through for a
// score: a result with thousands of messages fits.
const searchedOutput = 1 << 20

// output is what a command wrote: both outputs together as they are kept, and each
// by itself, so that a result is not torn by a line of the other.
type output struct{ tail, stdout, stderr *command.Tail }

func newOutput() *output {
	return &output{command.NewTail(keptOutput), command.NewTail(searchedOutput), command.NewTail(searchedOutput)}
}

// takeScore reads the run's score from what the command wrote, unless it handed over
// a load of kasoku's own: the score that came with it counts, and what its report
// says does not. Patterns that were asked for go before both. What stands on stdout
// goes before what stands on stderr.
func (l *loads) takeScore(out *output, success bool) {
	if l.summary != nil && l.o.Score.Empty() && l.o.Pass.Empty() {
		return
	}
	text := slices.Concat(out.stderr.Bytes(), []byte("\n"), out.stdout.Bytes()) // the last one wins
	found, err := score.Read(text, l.o.Score, l.o.Pass)
	if err != nil {
		l.warn(kasoku.Warning{Code: "no-score", Text: strings.ReplaceAll(err.Error(), "\n", "; "), Hint: hint(err)})
	}
	if found != nil && found.Outcome == kasoku.Unjudged && !success {
		found.Outcome = kasoku.Failed // a benchmark that ends so did not get through
	}
	l.run.Score = found
}
