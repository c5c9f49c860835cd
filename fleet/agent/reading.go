package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
)

// A reader is kasoku, as a child that reads logs of this host into tables. It ends when the pipe to
// it does, with the agent or before. What it has read of whole logs stays here for a while, so that
// one that comes after it goes on.
type reader struct {
	relay.Reader
	child *command.Process
	begin *os.File
	lease *time.Timer
	of    time.Duration
	ended chan struct{} // closed when the child has ended and its file is looked at

	mu    sync.Mutex
	state fleet.LogsAnswer
	begun bool // it was given the word to begin
	gone  bool // no one wants the file
}

var readerPart = contain.Part{Kind: contain.Step, Name: "reading"}

func (a *Agent) readerOf(run string) relay.Reader {
	return relay.Reader{Dir: a.opts.Readings, Run: run}
}

// logs reads logs, and answers how far that is.
func (a *Agent) logs(q *fleet.LogsQuestion) fleet.LogsAnswer {
	if err := q.Check(&a.opts.Limit); err != nil {
		return a.refuseLogs(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.reader
	if r == nil || r.Run != q.Run {
		switch {
		case q.Stop || q.Forget:
			return fleet.LogsAnswer{State: fleet.Failed, Error: "it knows nothing of this reading"}
		case r != nil && !r.over():
			return a.refuseLogs(&fleet.RefusedError{Reason: "other logs are being read here",
				Fix: "wait until they are; a reading whose coordinator is gone ends after " + a.opts.Lease.String() +
					", the agent's --lease"})
		}
		var err error
		if r, err = a.read(q); err != nil {
			return a.refuseLogs(err)
		}
		if a.reader != nil {
			_ = os.Remove(a.reader.Tables()) // it has come, or is not wanted
		}
		a.reader = r
	}
	return r.take(q)
}

// refuseLogs is the answer that a reading does not begin.
func (a *Agent) refuseLogs(err error) fleet.LogsAnswer {
	a.opts.Note("logs " + err.Error())
	ack := refusal(err)
	return fleet.LogsAnswer{State: fleet.Failed, Error: ack.Error, Fix: ack.Fix}
}

// read starts a reader.
func (a *Agent) read(q *fleet.LogsQuestion) (*reader, error) {
	if err := private.State.MkdirAll(a.opts.Readings); err != nil {
		return nil, fmt.Errorf("make a place for the tables: %w", err)
	}
	r := &reader{Reader: a.readerOf(q.Run), of: a.opts.Lease, ended: make(chan struct{}),
		state: fleet.LogsAnswer{State: fleet.Preparing}}
	r.Allowed, r.Kind, r.Paths, r.Options = a.opts.Limit.Logs, q.Kind, q.Paths, q.Options
	order, err := r.Line()
	if err != nil {
		return nil, err
	}
	child, begin, said, err := a.piped(relay.ReaderCommand)
	if err != nil {
		return nil, err
	}
	r.child, r.begin = child, begin
	r.lease = time.AfterFunc(r.of, contain.Func(readerPart, func() {
		a.opts.Note("reading " + r.Run + " is ended: no one asked for it in " + r.of.String())
		r.halt()
	}))
	contain.Go(readerPart, func() { // more than the pipe takes at once waits for the child
		if _, err := r.begin.Write(order); err != nil {
			r.halt() // it has ended, and said why
		}
	})
	contain.Go(readerPart, func() {
		defer close(r.ended)
		r.listen(said)
		r.lease.Stop()
		if r.isGone() {
			_ = os.Remove(r.Tables()) // a reader that comes later removes it
		}
		now := r.answer()
		a.opts.Note(fmt.Sprintf("reading %s of %d logs is %s", r.Run, now.Logs, now.State))
	})
	a.opts.Note("reading " + r.Run + " is prepared")
	return r, nil
}

// listen takes what the child says until it has ended, and measures its file.
func (r *reader) listen(said *os.File) {
	defer said.Close()
	var last fleet.LogsAnswer
	each(said, func(s fleet.LogsAnswer) {
		last = s
		if s.State != fleet.Over && s.State != fleet.Failed { // those are said with the file
			r.set(s)
		}
	})
	res, _ := r.child.Wait()
	_ = r.begin.Close() // it may be closed
	switch {
	case last.State == fleet.Over:
		var err error
		if last.Size, last.Sum, err = measure(r.Tables()); err != nil {
			last.State, last.Error = fleet.Failed, err.Error()
		}
	case last.State != fleet.Failed || last.Error == "":
		last.State, last.Error = fleet.Failed, "the reader ended: "+res.String()
	}
	r.set(last)
}

func (r *reader) set(now fleet.LogsAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = now
}

func (r *reader) answer() fleet.LogsAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *reader) isGone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// halt ends the reading; what was read until then is kept.
func (r *reader) halt() { _ = r.begin.Close() } // once more is no matter

func (r *reader) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// take does what a question asks for, and answers how far the reading is.
func (r *reader) take(q *fleet.LogsQuestion) fleet.LogsAnswer {
	if !r.over() {
		r.lease.Reset(r.of)
	}
	switch {
	case q.Stop || q.Forget:
		r.halt()
		if q.Forget {
			r.mu.Lock()
			r.gone = true
			r.mu.Unlock()
			if r.over() {
				_ = os.Remove(r.Tables()) // it may never have been there
			}
		}
	case len(q.Begin) > 0:
		r.start(q.Begin)
	}
	return r.answer()
}

// start hands over what was not known before, once the child is ready.
func (r *reader) start(with json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.state.State != fleet.Ready {
		return
	}
	r.begun = true
	var line bytes.Buffer
	err := json.Compact(&line, with)
	if err == nil {
		line.WriteByte('\n')
		_, err = r.begin.Write(line.Bytes())
	}
	if err != nil {
		_ = r.begin.Close() // it ends, and says so
	}
}
