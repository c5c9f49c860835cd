package agent

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
)

// A recorder is kasoku, as a child that records this host. The agent owns it: it ends in order
// when the pipe to it does, with the agent or before, and puts back by itself what it changed on
// servers. What it leaves is found again by an agent that comes after.
type recorder struct {
	relay.Recorder
	child *command.Process
	begin *os.File
	lease *time.Timer
	of    time.Duration
	ended chan struct{} // closed when the child has ended and its file is looked at

	mu    sync.Mutex
	state fleet.RecordingAnswer
	begun bool // it was given when to begin
	cut   bool // and, as it waited, from when on it counts
	gone  bool // no one wants the file
}

const (
	keptFiles  = 4 // recordings that no one has fetched
	salvageFor = 20 * time.Second
)

var recorderPart = contain.Part{Kind: contain.Step, Name: "recording"}

// record prepares a recording.
func (a *Agent) record(o *fleet.RecordOrder) fleet.Ack {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := o.Check(&a.opts.Limit)
	if err == nil && (a.recorder != nil && !a.recorder.over() || a.busy()) {
		err = &fleet.RefusedError{Reason: "another recording is under way here",
			Fix: "wait until it is over; one whose " +
				"coordinator is gone ends after " + a.opts.Lease.String() + ", the agent's --lease"}
	}
	var r *recorder
	if err == nil {
		r, err = a.launch(o)
	}
	if err != nil {
		a.opts.Note("recording " + err.Error())
		return refusal(err)
	}
	a.recorder = r
	a.opts.Note("recording " + o.Run + " is prepared")
	return fleet.Ack{}
}

func refusal(err error) fleet.Ack {
	ack := fleet.Ack{Error: err.Error()}
	var refused *fleet.RefusedError
	if errors.As(err, &refused) {
		ack.Fix = refused.Fix
	}
	return ack
}

func (a *Agent) recorderOf(run string) relay.Recorder {
	return relay.Recorder{Dir: a.opts.Recordings, Run: run}
}

// busy reports whether a recorder lives, of this agent or of one before it.
func (a *Agent) busy() bool {
	f, err := os.Open(filepath.Join(a.opts.Recordings, relay.Lock))
	if err != nil {
		return false // there never was one
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

// launch starts a recorder.
func (a *Agent) launch(o *fleet.RecordOrder) (*recorder, error) {
	if err := private.State.MkdirAll(a.opts.Recordings); err != nil {
		return nil, fmt.Errorf("make a place for the recording: %w", err)
	}
	a.tidy()
	r := &recorder{Recorder: a.recorderOf(o.Run), of: a.opts.Lease, ended: make(chan struct{}),
		state: fleet.RecordingAnswer{State: fleet.Preparing}}
	for _, path := range []string{r.Partial(), r.Whole()} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil, &fleet.RefusedError{Reason: "a recording of this name is here"}
		}
	}
	r.Config, r.Label, r.On, r.Longest = a.opts.Limit.Config, o.Label, o.On, fleet.LongestRecording
	child, begin, said, err := a.piped(relay.RecorderCommand, relay.RecorderEnv+"="+r.String())
	if err != nil {
		return nil, err
	}
	r.child, r.begin = child, begin
	r.lease = time.AfterFunc(r.of, contain.Func(recorderPart, func() {
		if r.over() {
			return
		}
		a.opts.Note("recording " + r.Run + " is ended: no one asked for it in " + r.of.String())
		r.halt("no one asked for it in " + r.of.String())
	}))
	contain.Go(recorderPart, func() {
		defer close(r.ended)
		r.listen(said)
		r.lease.Stop()
		if r.answer().State == fleet.Failed && a.salvage(&r.Recorder) {
			r.settle("its recorder was killed")
		}
		if r.isGone() {
			_ = os.Remove(r.Whole()) // it is removed later
		}
		a.opts.Note("recording " + r.Run + " is " + r.answer().State)
	})
	return r, nil
}

// piped starts kasoku as a child that takes words by one pipe, and says by another how far it is.
func (a *Agent) piped(as string, env ...string) (child *command.Process, words, said *os.File, err error) {
	read, words, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("start %s: %w", as, err)
	}
	said, say, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("start %s: %w", as, err), read.Close(), words.Close())
	}
	child, err = a.child(as, env, read, say)
	err = errors.Join(err, read.Close(), say.Close())
	if err != nil {
		return nil, nil, nil, errors.Join(err, words.Close(), said.Close())
	}
	return child, words, said, nil
}

// child starts kasoku as a recorder or a reader.
func (a *Agent) child(as string, env []string, in, out *os.File) (*command.Process, error) {
	program, err := a.opts.Kasoku()
	if err != nil {
		return nil, err
	}
	spec := command.Spec{Path: program, Name: relay.First, Args: []string{as}, Env: env, Stdout: out, Stderr: os.Stderr}
	if in != nil {
		spec.Stdin = in
	}
	p, err := command.Start(context.Background(), spec)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", as, err)
	}
	return p, nil
}

// salvage makes whole what a recorder left that was killed, and reports whether there is something.
func (a *Agent) salvage(r *relay.Recorder) bool {
	if _, err := os.Lstat(r.Partial()); err != nil {
		return false
	}
	s := a.recorderOf(r.Run)
	s.Salvage = true
	child, err := a.child(relay.RecorderCommand, []string{relay.RecorderEnv + "=" + s.String()}, nil, nil)
	if err != nil {
		a.opts.Note("recording " + r.Run + ": " + err.Error())
		return false
	}
	limit := time.AfterFunc(salvageFor, contain.Func(recorderPart, func() { _, _ = child.Kill() }))
	defer limit.Stop()
	res, _ := child.Wait()
	return res.Success()
}

// tidy removes what was left by recordings that were cut off, and all but the newest that no one
// has fetched. No recording is under way.
func (a *Agent) tidy() {
	all, _ := os.ReadDir(a.opts.Recordings)
	var whole []fs.FileInfo
	for _, e := range all {
		st, err := e.Info()
		switch {
		case e.Name() == relay.Lock:
		case err == nil && filepath.Ext(e.Name()) == ".kasoku":
			whole = append(whole, st)
		default:
			_ = os.RemoveAll(filepath.Join(a.opts.Recordings, e.Name())) // it is tried again
		}
	}
	slices.SortFunc(whole, func(x, y fs.FileInfo) int { return y.ModTime().Compare(x.ModTime()) })
	for _, st := range whole[min(len(whole), keptFiles-1):] {
		_ = os.Remove(filepath.Join(a.opts.Recordings, st.Name()))
	}
}

// listen takes what the child says until it has ended, and looks at its file.
func (r *recorder) listen(said *os.File) {
	defer said.Close()
	var last relay.Recorded
	each(said, func(s relay.Recorded) {
		last = s
		if s.State != fleet.Over && s.State != fleet.Failed { // those are said with the file
			r.set(func(now *fleet.RecordingAnswer) {
				now.State, now.Began = s.State, max(now.Began, s.Began)
				if s.Sighting != nil {
					_ = json.Unmarshal(s.Sighting, &now.Sighting) // it is kasoku's own
				}
			})
		}
	})
	res, _ := r.child.Wait()
	_ = r.begin.Close() // it may be closed
	if last.State == fleet.Over {
		r.settle(last.Short)
		return
	}
	if last.Error == "" {
		last.Error = "the recorder ended: " + res.String()
	}
	r.set(func(now *fleet.RecordingAnswer) { now.State, now.Error = fleet.Failed, last.Error })
}

// each calls f for each line of JSON that a child says. What follows a line that is too long is thrown away, so that
// the child does not wait for who listens no more.
func each[T any](said io.Reader, f func(T)) {
	for lines := bufio.NewScanner(said); lines.Scan(); {
		var s T
		if json.Unmarshal(lines.Bytes(), &s) == nil {
			f(s)
		}
	}
	_, _ = io.Copy(io.Discard, said)
}

// settle measures the whole file. short is why it ended before it was asked to; empty: it did not.
func (r *recorder) settle(short string) {
	size, sum, err := measure(r.Whole())
	r.set(func(now *fleet.RecordingAnswer) {
		if err != nil {
			now.State, now.Error = fleet.Failed, err.Error()
			return
		}
		now.State, now.Error, now.Size, now.Sum = fleet.Over, "", size, sum
		if now.Short == "" {
			now.Short = short
		}
	})
}

// openWhole opens a run file, or one with tables, for reading.
func openWhole(path string) (*os.File, error) {
	st, err := os.Lstat(path) // in a directory of the agent's own, which no other enters
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// measure returns the size and the SHA-256 of a run file, or of one with tables.
func measure(path string) (size int64, sum string, err error) {
	f, err := openWhole(path)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, io.LimitReader(f, fleet.MaxPart+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, "", fmt.Errorf("read what was made: %w", err)
	}
	if size > fleet.MaxPart {
		return 0, "", fmt.Errorf("what was made is larger than %d bytes, and stays on this host: %s", fleet.MaxPart,
			path)
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}

func (r *recorder) set(change func(*fleet.RecordingAnswer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
}

func (r *recorder) answer() fleet.RecordingAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// start gives the moment to begin at, and that from which it counts, once each; 0: not yet.
func (r *recorder) start(at, cut time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var word relay.Begin
	if at != 0 && !r.begun {
		r.begun, word.At = true, at
	}
	if cut != 0 && !r.cut {
		r.cut, word.Cut = true, cut
	}
	if word == (relay.Begin{}) {
		return
	}
	b, err := json.Marshal(word)
	if err == nil {
		_, err = r.begin.Write(append(b, '\n'))
	}
	if err != nil {
		_ = r.begin.Close() // it ends, and says so
	}
}

// halt ends the recording in order. why is empty when it was asked to.
func (r *recorder) halt(why string) {
	r.set(func(now *fleet.RecordingAnswer) {
		if now.Short == "" {
			now.Short = why
		}
	})
	_ = r.begin.Close() // once more is no matter
}

func (r *recorder) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// recording answers how a recording is. Of one that an agent before this one made, or this one
// before another, the file may be here.
func (a *Agent) recording(q *fleet.RecordingQuestion) fleet.RecordingAnswer {
	if err := fleet.CheckRun(q.Run); err != nil {
		return fleet.RecordingAnswer{State: fleet.Failed, Error: err.Error()}
	}
	a.mu.Lock()
	r := a.recorder
	a.mu.Unlock()
	if r == nil || r.Run != q.Run {
		return a.kept(q)
	}
	if !r.over() {
		r.lease.Reset(r.of)
	}
	if q.Stop || q.Forget {
		r.halt("")
		r.forget(q.Forget)
	} else {
		r.start(q.Begin, q.Cut)
	}
	return r.answer()
}

// forget has the file removed, now or when the recording is over.
func (r *recorder) forget(wanted bool) {
	if !wanted {
		return
	}
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	if r.over() {
		_ = os.Remove(r.Whole()) // it may never have been there
	}
}

func (r *recorder) isGone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// kept answers from the file of a recording alone.
func (a *Agent) kept(q *fleet.RecordingQuestion) fleet.RecordingAnswer {
	r := a.recorderOf(q.Run)
	if _, err := os.Lstat(r.Whole()); err != nil {
		switch _, err := os.Lstat(r.Partial()); {
		case err != nil:
			return fleet.RecordingAnswer{State: fleet.Failed, Error: "it knows nothing of this recording"}
		case a.busy():
			return fleet.RecordingAnswer{State: fleet.Analysing} // the pipe to it has ended
		case !a.salvage(&r):
			return fleet.RecordingAnswer{State: fleet.Failed, Error: "its recorder was killed, and left nothing whole"}
		}
	}
	size, sum, err := measure(r.Whole())
	if err != nil {
		return fleet.RecordingAnswer{State: fleet.Failed, Error: err.Error()}
	}
	if q.Forget {
		_ = os.Remove(r.Whole())
	}
	return fleet.RecordingAnswer{State: fleet.Over, Size: size, Sum: sum, Short: "its agent was started again"}
}

// piece returns a piece of the file of a recording, or of a reading, that is over.
func (a *Agent) piece(q *fleet.PartQuestion) fleet.PartAnswer {
	if err := fleet.CheckRun(q.Run); err != nil {
		return fleet.PartAnswer{Error: err.Error()}
	}
	r := a.recorderOf(q.Run)
	f, err := openWhole(r.Whole())
	if err != nil {
		read := a.readerOf(q.Run)
		f, err = openWhole(read.Tables())
	}
	if err != nil {
		return fleet.PartAnswer{Error: "there is no such recording or reading"}
	}
	defer f.Close()
	b := make([]byte, fleet.MaxPiece)
	n, err := f.ReadAt(b, max(q.Offset, 0))
	if err != nil && !errors.Is(err, io.EOF) {
		return fleet.PartAnswer{Error: err.Error()}
	}
	return fleet.PartAnswer{Data: b[:n]}
}
