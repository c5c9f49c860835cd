package logscmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/kasoku/kasoku/report/terminal"
	"golang.org/x/term"
)

// everyDraw is how often a table that is followed is drawn.
const everyDraw = time.Second

// A follower adds up access logs while they grow.
type follower struct {
	e       *cli.Env
	zone    *time.Location
	logs    []*followed
	stream  <-chan []byte // of standard input; nil without, closed at its end
	table   *accesslog.Table
	started time.Time
	drawn   time.Time // when the last second ended
	last    second
	before  map[string]uint64 // requests by key when it ended
	counts  map[string]uint64 // and when the table was drawn last
}

// A second is what came since the table was drawn last.
type second struct {
	requests, failed uint64
	latency          *histogram.Histogram
}

// A followed log is one of those.
type followed struct {
	*accessformat.Follower
	tail *lines.Tail // nil of standard input
	part []byte      // of standard input: the start of a line
}

// followAll follows the logs until it is interrupted, or standard input ends.
func (f *accessFlags) followAll(ctx context.Context, e *cli.Env, in []lines.Input, o logfile.AccessOptions) error {
	if f.out.Format != "table" {
		return cli.Usagef("without --follow it reads what there is", "--follow goes with -o table, not with -o %s",
			f.out.Format)
	}
	w, err := f.newFollower(e, in)
	if err != nil {
		return err
	}
	defer w.close()
	screen := newScreen(e)
	err = w.run(ctx, func() error { return screen.draw(w, o) })
	screen.close()
	if err != nil {
		return err
	}
	log := w.log()
	if err := f.print(e, log, o); err != nil {
		return err
	}
	return judgeRead(e, log, nil)
}

// newFollower begins at the present end of the logs, which need not exist yet.
func (f *accessFlags) newFollower(e *cli.Env, in []lines.Input) (*follower, error) {
	files := slices.DeleteFunc(slices.Clone(in),
		func(l lines.Input) bool { return l.R != nil }) // a pipe may have nothing yet
	o, zone, err := f.read.optionsFor(e, files)
	if err != nil {
		return nil, err
	}
	w := &follower{e: e, zone: zone, table: accesslog.NewTable(o), started: e.Now(), drawn: e.Now(), last: newSecond()}
	for i := range in {
		l := &followed{Follower: w.table.Follower(in[i].Path, o.Format)}
		w.logs = append(w.logs, l)
		if in[i].R != nil {
			w.stream = readChunks(in[i].R)
			continue
		}
		if l.tail, err = lines.NewTail(in[i].Path); err != nil {
			w.close()
			return nil, err
		}
		l.Peek(&in[i])
	}
	return w, nil
}

func newSecond() second { return second{latency: histogram.NewExact(time.Millisecond)} }

// readChunks yields what a stream gives as it comes. Its goroutine ends with the
// stream; nothing can break off a read of a pipe, so it is not waited for.
func readChunks(r io.Reader) <-chan []byte {
	out := make(chan []byte, 16)
	go func() {
		defer close(out)
		for {
			b := make([]byte, 64<<10)
			n, err := r.Read(b)
			if n > 0 {
				out <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// run draws every second until the context or the stream ends.
func (w *follower) run(ctx context.Context, draw func() error) error {
	tick := time.NewTicker(everyDraw)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return w.take()
		case b, more := <-w.stream:
			if !more {
				return w.take()
			}
			w.streamed(b)
		case <-tick.C:
			if err := w.take(); err != nil {
				return err
			}
			if err := draw(); err != nil {
				return err
			}
			w.turn()
		}
	}
}

// streamed takes a piece of standard input.
func (w *follower) streamed(b []byte) {
	for _, l := range w.logs {
		if l.tail != nil {
			continue
		}
		for {
			line, rest, whole := bytes.Cut(b, []byte("\n"))
			l.part = append(l.part, line[:min(len(line), max(lines.DefaultMaxLine-len(l.part), 0))]...)
			if !whole {
				return
			}
			l.Line(l.part, w.add)
			l.part, b = l.part[:0], rest
		}
	}
}

// take reads what the files gained.
func (w *follower) take() error {
	var errs []error
	for _, l := range w.logs {
		if l.tail != nil {
			_, err := l.tail.Next(func(line []byte) { l.Line(line, w.add) })
			errs = append(errs, err)
			l.Note(l.tail.Note())
		}
		l.Settle(w.add)
	}
	return errors.Join(errs...)
}

// add adds a record.
func (w *follower) add(r *accessformat.Record) {
	before := w.table.Records()
	w.table.Add(r)
	if w.table.Records() == before {
		return // it was filtered out
	}
	w.last.requests++
	if r.Status >= 500 {
		w.last.failed++
	}
	if r.Timed() {
		w.last.latency.Record(r.Latency)
	}
}

// log is what there is so far.
func (w *follower) log() *logfile.AccessLog {
	log := accessLog(w.table, w.zone)
	for _, l := range w.logs {
		log.Logs = append(log.Logs, l.Window())
	}
	return log
}

// turn begins the next second.
func (w *follower) turn() {
	w.drawn, w.last, w.before = w.e.Now(), newSecond(), w.counts
}

// live is the log with what came in the last second. A row whose route took in
// others just now cannot have gained more than came.
func (w *follower) live() *logfile.AccessLog {
	log := w.log()
	now := w.e.Now()
	log.Live = &logfile.Live{Now: map[string]uint64{}, During: now.Sub(w.drawn), Said: w.said(log, now)}
	w.counts = map[string]uint64{}
	for i := range log.Rows {
		k, n := logfile.LiveKey(log.Rows[i].Key), log.Rows[i].Count
		w.counts[k] = n
		log.Live.Now[k] = min(n-min(w.before[k], n), w.last.requests)
	}
	return log
}

// said describes the last second: 431 req/s, 2 5xx, p50 8.90 ms, p99 18.3 ms.
func (w *follower) said(log *logfile.AccessLog, now time.Time) string {
	sec := max(now.Sub(w.drawn).Seconds(), 1e-3)
	rate := float64(w.last.requests) / sec
	if rate = math.Round(10*rate) / 10; rate >= 10 {
		rate = math.Round(rate)
	}
	parts := []string{unit.PerSec(rate), unit.Count(w.last.failed) + " 5xx"}
	if h := w.last.latency; h.Count() > 0 {
		parts = append(parts, "p50 "+unit.Duration(h.Quantile(0.5)), "p99 "+unit.Duration(h.Quantile(0.99)))
	}
	var all uint64
	for i := range log.Rows {
		all += log.Rows[i].Count
	}
	return strings.Join(parts, ", ") + "; " + unit.Counted(all, "request", "requests") + " in " +
		unit.Exact(now.Sub(w.started).Round(time.Second)) + "."
}

func (w *follower) close() {
	for _, l := range w.logs {
		if l.tail != nil {
			_ = l.tail.Close() // it was only read
		}
	}
}

// A screen shows what is followed: on a terminal a table in place of the last one,
// elsewhere a line a second.
type screen struct {
	e    *cli.Env
	open bool
}

func newScreen(e *cli.Env) *screen { return &screen{e: e} }

// The alternate screen keeps what was on the terminal before.
//
// Source: XTerm Control Sequences, DECSET 1049; ECMA-48 CUP, EL and ED.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	home        = "\x1b[H"
	restOfLine  = "\x1b[K"
	below       = "\x1b[J"
)

// around are the lines of a live table that are no rows.
const around = 14

func (s *screen) draw(w *follower, o logfile.AccessOptions) error {
	log := w.live()
	if !s.e.StdoutTTY {
		_, err := fmt.Fprintln(s.e.Stdout, w.e.Now().In(w.zone).Format("15:04:05")+"  "+log.Live.Said)
		return err
	}
	width, height := s.size()
	o.Sections = []string{report.SectionEndpoints, report.SectionTimeline}
	if o.Limit == 0 || o.Limit > height-around {
		o.Limit = max(height-around, 3)
	}
	doc, err := logfile.Access(log, o)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	t := s.e.Terminal()
	t.Width = width
	if err := terminal.Write(&text, doc, t); err != nil {
		return err
	}
	shown := strings.SplitAfter(text.String(), "\n")
	var out strings.Builder
	if !s.open {
		out.WriteString(enterScreen)
		s.open = true
	}
	out.WriteString(home)
	for _, line := range shown[:min(len(shown), height-1)] {
		out.WriteString(strings.TrimSuffix(line, "\n") + restOfLine + "\r\n")
	}
	out.WriteString(below)
	_, err = io.WriteString(terminal.Raw(s.e.Stdout), out.String())
	return err
}

// size is how large the terminal is now.
func (s *screen) size() (width, height int) {
	if f, ok := terminal.Raw(s.e.Stdout).(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
	}
	return s.e.Columns(), 24
}

// close gives the terminal back.
func (s *screen) close() {
	if s.open {
		io.WriteString(terminal.Raw(s.e.Stdout), leaveScreen) // the next write reports a closed terminal
		s.open = false
	}
}
