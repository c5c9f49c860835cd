package load

import (
	"context"
	"io"

	"github.com/kasoku/kasoku/internal/contain"
)

// ahead reads a stream on a goroutine of its own, one target before it is asked
// for: so a stop need not wait for a target that may never come, such as from a
// terminal.
type ahead struct {
	targets chan streamed
	quit    chan struct{}
}

type streamed struct {
	n      uint64
	target *Target
	err    error
}

// targetsPart names what reads targets where it fails: the stream ends there.
var targetsPart = contain.Part{Kind: contain.Engine, Name: "targets"}

func readAhead(s Stream) *ahead {
	a := &ahead{targets: make(chan streamed), quit: make(chan struct{})}
	go a.run(s)
	return a
}

func (a *ahead) run(s Stream) {
	for n := uint64(0); ; n++ {
		var target *Target
		err := contain.Do(targetsPart, func() (err error) { target, err = s.Next(); return err })
		select {
		case a.targets <- streamed{n, target, err}:
		case <-a.quit:
			return
		}
		if err != nil {
			close(a.targets)
			return
		}
	}
}

// next returns the next target and its number, from 0. It waits for it until ctx
// is cancelled. It is safe for concurrent use.
func (a *ahead) next(ctx context.Context) (uint64, *Target, error) {
	select {
	case s, ok := <-a.targets:
		if !ok {
			return 0, nil, io.EOF
		}
		return s.n, s.target, s.err
	case <-ctx.Done():
		return 0, nil, context.Cause(ctx)
	}
}

// stop ends the reading. It does not wait: nothing can interrupt a read.
func (a *ahead) stop() { close(a.quit) }
