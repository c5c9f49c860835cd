// Package printed keeps what the command of a run printed, and when: its end for the run
// file, and as much more as it takes to find a score and the benchmark's own words in it.
//
// The one idea: output is written while the benchmark runs, so that the moment at which a
// line arrives is its time, whatever clock the benchmark itself prints. Output that a
// program holds back, as many do when it goes to a pipe, has the time at which it arrived.
//
// The memory is bounded, however much is printed. Start at [New].
package printed

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/logs/score"
)

const (
	// Kept is how much of a command's output a run keeps, from its end.
	Kept = 64 << 10
	// searched is how much of each output, from its end, is looked through for a score and
	// words: a result with thousands of messages fits.
	searched = 1 << 20
)

// An Output is what a command printed: both outputs together as they are kept, and each
// by itself, so that a result is not torn by a line of the other. It is safe for
// concurrent use.
type Output struct {
	tail           *command.Tail
	stdout, stderr *timedTail
}

// New returns an output of which nothing was printed yet. now is the run's clock.
func New(now func() time.Duration) *Output {
	return &Output{command.NewTail(Kept), newTimedTail(now), newTimedTail(now)}
}

// Writers return where the command's outputs go, which pass all of it on.
func (o *Output) Writers(stdout, stderr io.Writer) (out, err io.Writer) {
	return io.MultiWriter(o.stdout, o.tail.Tee(stdout)), io.MultiWriter(o.stderr, o.tail.Tee(stderr))
}

// Tail returns the end of all that was printed, and whether there was more.
func (o *Output) Tail() (text string, cut bool) { return string(o.tail.Bytes()), o.tail.Truncated() }

// Score returns what the output says that the run was worth, as [score.Read] does. What
// stands on stdout goes before what stands on stderr.
func (o *Output) Score(value, pass score.Pattern) (*kasoku.Score, error) {
	text, _ := o.joined()
	return score.Read(text, value, pass)
}

// Words returns what the benchmark said beside its score, on the run's clock. Events and
// messages are of no host yet.
func (o *Output) Words() score.Words {
	text, second := o.joined()
	return score.ReadWords(text, func(offset int64) time.Duration {
		if offset < second {
			return o.stderr.at(offset)
		}
		return o.stdout.at(offset - second)
	})
}

// joined returns both outputs, stdout last, and where it begins.
func (o *Output) joined() (text []byte, stdout int64) {
	text = append(o.stderr.tail.Bytes(), '\n')
	return slices.Concat(text, o.stdout.tail.Bytes()), int64(len(text))
}

const (
	// coarsest is how far apart two moments are at least, when they are kept apart: a line's
	// place on the time axis is shown to a tenth of a second.
	coarsest = 100 * time.Millisecond
	// mostMarks bounds the moments. Where a run has more, every second one goes, and those
	// that follow are twice as far apart: ten minutes are kept as they are.
	mostMarks = 6000
)

// timedTail is a tail that knows when its bytes were written.
type timedTail struct {
	tail *command.Tail
	now  func() time.Duration

	mu    sync.Mutex
	marks []mark // in the order of their bytes
	apart time.Duration
}

// A mark is a moment, and how many bytes had been written before it ended.
type mark struct {
	at  time.Duration
	end uint64
}

func newTimedTail(now func() time.Duration) *timedTail {
	return &timedTail{tail: command.NewTail(searched), now: now, apart: coarsest}
}

// Write keeps p and its moment. It never fails.
func (t *timedTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.tail.Write(p)
	at, end := t.now(), t.tail.Total()
	if last := len(t.marks) - 1; last >= 0 && at-t.marks[last].at < t.apart {
		t.marks[last].end = end
		return n, err
	}
	if len(t.marks) == mostMarks {
		t.apart *= 2
		kept := t.marks[:0]
		for i := 0; i+1 < mostMarks; i += 2 {
			kept = append(kept, mark{t.marks[i].at, t.marks[i+1].end})
		}
		t.marks = kept
	}
	t.marks = append(t.marks, mark{at, end})
	return n, err
}

// at returns when the byte at the offset of what is kept was written.
func (t *timedTail) at(offset int64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.marks) == 0 {
		return 0
	}
	place := uint64(max(offset, 0)) + t.tail.Total() - min(t.tail.Total(), searched)
	i, _ := slices.BinarySearchFunc(t.marks, place, func(m mark, place uint64) int {
		if m.end > place {
			return 1
		}
		return -1
	})
	return t.marks[min(i, len(t.marks)-1)].at
}
