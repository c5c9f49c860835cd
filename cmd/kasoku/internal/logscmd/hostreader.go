package logscmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// NewHostReader returns the command that the agent of a host starts to have logs read.
func NewHostReader(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     relay.ReaderCommand,
		Short:   "Read logs of this host for its agent, which starts it",
		Hidden:  true,
		Example: "  kasoku agent --allow 'logs=/var/log/nginx/*'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in := bufio.NewReader(e.Stdin)
			line, _ := in.ReadBytes('\n') // without one it is no order
			o, err := relay.ParseReader(line)
			if err != nil {
				return cli.Usage(err, "")
			}
			h := &hostReader{Reader: o, out: json.NewEncoder(e.Stdout)}
			if err := h.run(cmd.Context(), e, in); err != nil {
				h.say(fleet.LogsAnswer{State: fleet.Failed, Error: err.Error(), Fix: cli.HintOf(err)})
				return err
			}
			return nil
		},
	}
}

var readerPart = contain.Part{Kind: contain.Step, Name: "reading"}

// A tabler makes tables of logs of one kind for who asks from another host.
type tabler interface {
	zone(in *lines.Input) *fleet.LogZone
	begin(word json.RawMessage) error
	table(ctx context.Context, in *lines.Input, progress func(done, total int64)) (*logs.Part, error)
	check(table []byte) error // what was kept is whole
}

// newTabler reads the options that a question has for a kind of logs.
func newTabler(e *cli.Env, kind string, options json.RawMessage) (tabler, error) {
	switch kind {
	case fleet.AccessLog:
		return newAccessTabler(e, options)
	case fleet.SlowLog:
		return newSlowTabler(e, options)
	}
	return nil, fmt.Errorf("logs of kind %q are not read here", kind)
}

// A hostReader reads logs of this host until its standard input ends. A table that was made of a
// whole log is kept, so that a reading that comes after it need not read the log again.
type hostReader struct {
	relay.Reader
	out    *json.Encoder
	saying sync.Mutex
	kind   tabler
	logs   []hostLog
	cores  int
	zone   *fleet.LogZone  // of the first log
	total  int64           // stored bytes
	word   json.RawMessage // to begin
	began  time.Time
}

// A hostLog is one of the logs.
type hostLog struct {
	fleet.LogFile
	size       int64
	done, kept atomic.Int64 // bytes
	table      string       // path of its part, once it is whole
	part       []byte       // else what was read of it
}

func (h *hostReader) say(a fleet.LogsAnswer) {
	h.saying.Lock()
	defer h.saying.Unlock()
	a.Error, a.Fix = fleet.Clean(a.Error), fleet.Clean(a.Fix)
	_ = h.out.Encode(a) // the agent is gone
}

// errAsked is why a reading ends that was asked to.
var errAsked = errors.New("it was asked to")

func (h *hostReader) run(parent context.Context, e *cli.Env, in *bufio.Reader) error {
	lock, err := h.alone(parent)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer cli.OutliveReader()()
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	tidyTables(h.Dir, time.Now())
	if h.kind, err = newTabler(e, h.Kind, h.Options); err != nil {
		return err
	}
	if err := h.find(); err != nil {
		return err
	}
	begin := make(chan json.RawMessage, 1)
	contain.Go(readerPart, func() { listenFor(in, begin, end) })
	h.say(h.far(fleet.Ready))
	select {
	case h.word = <-begin:
		if err := h.kind.begin(h.word); err != nil {
			return err
		}
	case <-ctx.Done():
		h.say(fleet.LogsAnswer{State: fleet.Failed, Error: "it ended before it was asked to begin"})
		return nil
	}
	h.began = time.Now()
	if err := h.read(ctx); err != nil {
		return err
	}
	if err := h.write(); err != nil {
		return err
	}
	h.say(h.far(fleet.Over))
	return nil
}

// alone waits until no reader works for the agent of this host: one whose agent was killed ends.
func (h *hostReader) alone(ctx context.Context) (*os.File, error) {
	lock, err := private.State.Open(filepath.Join(h.Dir, relay.Lock), 0)
	if err != nil {
		return nil, err
	}
	const patience = 10 * time.Second
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			return lock, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.Join(errors.New("another reader works for the agent of this host"), lock.Close())
		}
	}
}

// listenFor takes the word to begin, and ends the reading when the agent closes the pipe, or is gone.
func listenFor(in *bufio.Reader, begin chan<- json.RawMessage, end context.CancelCauseFunc) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			end(errAsked)
			return
		}
		select {
		case begin <- line:
		default:
		}
	}
}

// find finds the logs, and looks at each.
func (h *hostReader) find() error {
	files, err := fleet.FindLogs(h.Allowed, h.Paths)
	if err != nil {
		return err
	}
	h.logs = make([]hostLog, 0, len(files))
	for i := range files {
		f, st, err := openLog(&files[i])
		if err != nil {
			return err
		}
		if f == nil {
			continue // a directory that a pattern matches
		}
		h.total += st.Size
		h.logs = append(h.logs, hostLog{LogFile: files[i], size: st.Size})
		if len(h.logs) == 1 {
			h.zone = h.kind.zone(&lines.Input{Path: files[i].Path, R: f})
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if len(h.logs) == 0 {
		return &fleet.RefusedError{Reason: "only directories match", Fix: "name the files in them"}
	}
	h.cores = runtime.GOMAXPROCS(0)
	return nil
}

// openLog opens a log; nil where a pattern matches a directory.
func openLog(l *fleet.LogFile) (*os.File, *unix.Stat_t, error) {
	f, err := l.Open()
	if err != nil {
		return nil, nil, err
	}
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	switch {
	case err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG:
		return f, &st, nil
	case err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && l.ByPattern:
		return nil, nil, f.Close()
	case err == nil:
		err = fmt.Errorf("%s is no file", l.Path)
	}
	return nil, nil, errors.Join(err, f.Close())
}

// far is how far the reading is.
func (h *hostReader) far(state string) fleet.LogsAnswer {
	a := fleet.LogsAnswer{State: state, Logs: len(h.logs), Zone: h.zone, Total: h.total, Cores: h.cores}
	for i := range h.logs {
		a.Done += h.logs[i].done.Load()
		a.Kept += h.logs[i].kept.Load()
	}
	if !h.began.IsZero() {
		a.Wall, a.CPU = time.Since(h.began), cpuTime()
	}
	return a
}

// read reads the logs, some at a time. When ctx ends, each has the part that was read of it.
func (h *hostReader) read(ctx context.Context) error {
	reading, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	over := make(chan struct{})
	defer close(over)
	contain.Go(readerPart, func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				h.say(h.far(fleet.Running))
			case <-over:
				return
			}
		}
	})
	next := make(chan *hostLog)
	errs := make([]error, min(h.cores, len(h.logs)))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for l := range next {
				err := contain.Do(readerPart, func() error { return h.readLog(reading, l) })
				if err != nil && errs[i] == nil {
					errs[i] = err
					failed(err)
				}
			}
		})
	}
	for i := range h.logs {
		if reading.Err() != nil {
			break
		}
		next <- &h.logs[i]
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
}

// readLog reads one log, unless its table is here.
func (h *hostReader) readLog(ctx context.Context, l *hostLog) error {
	f, st, err := openLog(&l.LogFile)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	kept := filepath.Join(h.Dir, tableName(&h.Reader, h.word, l.Path, st))
	if h.isWhole(kept) {
		l.table = kept
		l.done.Store(l.size)
		l.kept.Store(l.size)
		return nil
	}
	p, err := h.kind.table(ctx, &lines.Input{Path: l.Path, R: f},
		func(done, _ int64) { l.done.Store(min(done, l.size)) })
	stopped := ctx.Err() != nil
	switch {
	case err != nil && !stopped:
		return err
	case p == nil: // stopped before its first line
		return nil
	}
	makePrintable(&p.Window)
	b, err := logs.AppendPart(nil, p)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Path, err)
	}
	if stopped {
		l.part = b
		return nil
	}
	l.done.Store(l.size)
	l.table = kept
	return private.State.WriteFile(kept, b)
}

// makePrintable takes out of texts what acts on a terminal, such as in the name of a file that somebody
// has made: who asks refuses it.
func makePrintable(w *kasoku.LogWindow) {
	texts := []*string{&w.Path, &w.Format, &w.Note}
	for i := range w.BadSample {
		texts = append(texts, &w.BadSample[i].Text, &w.BadSample[i].Why)
	}
	for _, text := range texts {
		*text = logs.Printable(*text)
	}
}

// isWhole reports whether the table that a name belongs to is here, and as it was written.
func (h *hostReader) isWhole(path string) bool {
	f, err := os.Open(path) // in a directory of the agent's own, which no other enters
	if err != nil {
		return false
	}
	defer f.Close()
	p, err := logs.NewPartReader(f).Next()
	if err != nil || h.kind.check(p.Table) != nil {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // it may be removed sooner
	return true
}

// write writes the parts, in the order of the logs, as the file that is handed over.
func (h *hostReader) write() error {
	var size int64
	for i := range h.logs {
		l := &h.logs[i]
		if l.table == "" {
			size += int64(len(l.part))
			continue
		}
		st, err := os.Stat(l.table)
		if err != nil {
			return err
		}
		size += st.Size()
	}
	if size > fleet.MaxPart {
		return &fleet.RefusedError{Fix: "name fewer logs at a time",
			Reason: fmt.Sprintf("the tables of %d logs have %d bytes, at most %d are handed over", len(h.logs), size,
				int64(fleet.MaxPart))}
	}
	return private.State.Replace(h.Tables(), func(w io.Writer) error {
		for i := range h.logs {
			if err := h.logs[i].copyTo(w); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *hostLog) copyTo(w io.Writer) error {
	if l.table == "" {
		_, err := w.Write(l.part)
		return err
	}
	f, err := os.Open(l.table)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}
