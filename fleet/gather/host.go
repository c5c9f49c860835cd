package gather

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/internal/private"
)

// A host is one that records itself. What it says is not believed.
type host struct {
	*Gathering
	name  string
	clock fleet.Exchange // when it was prepared, or waited for a request; of the goroutine that follows it

	compared time.Time // when clock was

	now            chan struct{} // ask at once
	ready, running chan struct{} // closed when it is
	ended          chan struct{} // closed when nothing more comes of it, and part is set
	part           Part
	short          bool // it was said that it ended early
	began          time.Duration

	// Of its access logs; mu guards them.
	logs  int
	grown int64
	heard time.Time // when it said so last
	saw   bool      // it said when it saw the request
}

func newHost(g *Gathering, name string) *host {
	return &host{Gathering: g, name: name, compared: time.Now(), now: make(chan struct{}, 1),
		ready: make(chan struct{}), running: make(chan struct{}), ended: make(chan struct{}), part: Part{Host: name}}
}

// order has it prepare.
func (h *host) order(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var ack fleet.Ack
	if err := h.bus.Ask(ctx, h.name, fleet.Record, fleet.RecordOrder{Run: h.run, Label: h.opts.Label,
		On: h.opts.On},
		&ack); err != nil {
		return err
	}
	if ack.Error != "" {
		return &coordinate.RefusedError{Host: h.name, Reason: fleet.Clean(ack.Error), Fix: fleet.Clean(ack.Fix)}
	}
	return nil
}

// ask asks how it is, and for what is to be done now.
func (h *host) ask() (a fleet.RecordingAnswer, err error) {
	h.mu.Lock()
	q := fleet.RecordingQuestion{Run: h.run, Stop: !h.stop.IsZero(), Forget: h.forget}
	if h.begin != 0 {
		offset, _ := h.clock.Offset()
		q.Begin = h.begin + offset
		if h.cut != 0 {
			q.Cut = h.cut + offset
		}
	}
	h.mu.Unlock()
	return a, h.askFor(fleet.Recording, q, &a)
}

func (h *host) askFor(verb string, question, answer any) error {
	ctx, cancel := context.WithTimeout(h.hard, askTime)
	defer cancel()
	return h.bus.Ask(ctx, h.name, verb, question, answer)
}

// end notes that nothing more comes of it. The error is a bug of following it.
func (h *host) end(err error) {
	if err != nil {
		h.part.Path = ""
		h.lose(err)
	}
	close(h.ended)
}

// follow asks until its run file has come, or nothing will.
func (h *host) follow() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	heard, silent := time.Now(), false
	for {
		a, err := h.ask()
		switch {
		case err == nil && silent:
			h.opts.Note(h.name + " answers again")
			fallthrough
		case err == nil:
			heard, silent = time.Now(), false
			over, err := h.take(&a)
			if err != nil {
				h.lose(err)
				return
			}
			if over {
				return
			}
		case h.hard.Err() != nil:
			h.lose(errors.New("what it recorded was not waited for"))
			return
		case time.Since(heard) > h.opts.Patience:
			h.lose(fmt.Errorf("no answer for %s: %w", h.opts.Patience, err))
			return
		case !silent && time.Since(heard) > askTime:
			silent = true
			h.opts.Note(h.name + " does not answer: " + fleet.Clean(err.Error()))
		}
		select {
		case <-tick.C:
		case <-h.now:
		case <-h.hard.Done():
		}
	}
}

// lose notes why nothing comes of it.
func (h *host) lose(err error) {
	h.part.Lost = fleet.Clean(err.Error())
	h.mu.Lock()
	begun := h.begin != 0 && !h.forget
	h.mu.Unlock()
	if begun {
		h.opts.Note(h.name + ": " + h.part.Lost)
	}
}

// take looks at an answer, and reports whether nothing more is to come.
func (h *host) take(a *fleet.RecordingAnswer) (over bool, err error) {
	h.mu.Lock()
	stop, forget := h.stop, h.forget
	h.mu.Unlock()
	if forget { // it has heard so
		return true, nil
	}
	if err := h.sighted(a); err != nil {
		return false, err
	}
	switch a.State {
	case fleet.Failed:
		return false, errors.New(a.Error)
	case fleet.Waiting:
		h.compare(a)
		closeOnce(h.ready)
		closeOnce(h.running)
	case fleet.Ready:
		closeOnce(h.ready)
	case fleet.Running:
		closeOnce(h.ready)
		if err := h.hasBegun(a.Began); err != nil {
			return false, err
		}
		closeOnce(h.running)
	case fleet.Over:
		if err := h.hasBegun(a.Began); err != nil {
			return false, err
		}
		if stop.IsZero() { // it is fetched when the load is over, which it would disturb
			if !h.short {
				h.short = true
				h.opts.Note(h.name + ": its recording has ended: " + fleet.Clean(a.Short))
			}
			return false, nil
		}
		return true, h.fetch(a)
	}
	if !stop.IsZero() && time.Since(stop) > h.opts.Analysis {
		return false, fmt.Errorf("it has not analysed what it recorded within %s", h.opts.Analysis)
	}
	return false, nil
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// hasBegun notes when the recording began, the first time that it says so.
func (h *host) hasBegun(at time.Duration) error {
	if h.began != 0 {
		return nil
	}
	h.mu.Lock()
	begin := h.begin
	if h.opts.On != "" {
		begin = h.cut
	}
	h.mu.Unlock()
	offset, _ := h.clock.Offset()
	at -= offset
	if begin == 0 || at < begin-farthest || at > begin+farthest {
		return errors.New("when its recording began cannot be")
	}
	h.began = at
	return nil
}

// fetch gets the run file.
func (h *host) fetch(a *fleet.RecordingAnswer) error {
	if a.Size < 1 || a.Size > fleet.MaxPart {
		return fmt.Errorf("a run file of %d bytes: at most %d are taken", a.Size, fleet.MaxPart)
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-h.hard.Done():
		return errors.New("its run file was not waited for")
	}
	path := filepath.Join(h.opts.Dir, h.name+".kasoku") // its name is one word
	f, err := private.State.CreateNew(path)
	if err != nil {
		return err
	}
	err = pieces(f, &handed{h.hard, h.opts.Patience, h.run, "its run file", a.Size, a.Sum, h.askFor})
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	h.part.Path, h.part.Began, h.part.Short = path, h.began, fleet.Clean(a.Short)
	h.part.Offset, h.part.Bound = h.clock.Offset()
	if x, err := coordinate.Compare(h.hard, h.bus, h.name); err == nil {
		offset, bound := x.Offset()
		h.part.Drift, h.part.Bound = offset-h.part.Offset, max(h.part.Bound, bound)
	}
	var last fleet.RecordingAnswer // it is removed there later, if this does not come
	_ = h.askFor(fleet.Recording, fleet.RecordingQuestion{Run: h.run, Stop: true, Forget: true}, &last)
	return nil
}
