// Package handover passes the load that other processes of this host make to the
// recording that they run below, and to those that look on without making a run.
//
// A load appends what it counted since the last time to a file, as a line of JSON
// ([Writer]); the reader takes each second once and gives the room back ([Loads]). The
// path comes by an environment variable ([Env]) or, of those that look on, by a directory
// that only this user may enter ([Onlookers], [Listen]). Both sides use CLOCK_MONOTONIC,
// which is the same in every process of a host.
package handover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/private"
)

// Env names the environment variable in which a recording passes the path of a
// file to a `kasoku attack`, or a benchmark of package scenario, that it runs. They leave
// their seconds in that file, so that these become part of the run.
const Env = "KASOKU_LOAD_FILE"

// OutputEnv names the environment variable by which a recording says which file it
// reads as the command's standard output, in the form of [command.FileID]. What a
// `kasoku attack` writes there is shown to people; elsewhere, such as in a pipe of
// the command's own, it is for programs.
const OutputEnv = "KASOKU_LOAD_OUTPUT"

// A Report is what a load made by another process on the same host reports
// of itself at one moment. What it counted is reported once: Seconds holds what came
// since the Report before. The rest replaces what was reported before.
type Report struct {
	Process        int           // its id; with the start it identifies the load
	Project        string        // see [Project]; empty when it is not known
	StartMonotonic time.Duration // CLOCK_MONOTONIC at the load's start: the same clock in every process of a host
	Steps          []kasoku.Step // relative to the load's start
	Places         []string      // where requests go: http://HOST:PORT, unix:PATH, after a space the name asked for where it is another; may be empty
	Summary        kasoku.LoadSummary
	Seconds        []kasoku.LoadSecond // Second counts from the load's start; Step 0 is outside of all steps
	Warnings       []kasoku.Warning

	Phases []kasoku.Phase // relative to the load's start, as are the next; empty: the traffic shows them
	Events []kasoku.Event // Host is filled in
	Score  *kasoku.Score  // what the load was worth, once that is known; nil of a load that gives none
}

// monotonic returns CLOCK_MONOTONIC at a moment; t must have a monotonic reading.
func monotonic(t time.Time) (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, fmt.Errorf("read monotonic clock: %w", err)
	}
	return time.Duration(ts.Nano()) - time.Since(t), nil
}

// wireSecond is a LoadSecond with its histograms encoded.
type wireSecond struct {
	kasoku.LoadSecond
	Latency, SendDelay, Service []byte
}

type wireReport struct {
	Report
	Seconds []wireSecond
}

// A Writer hands a load over while it is made. It keeps nothing of what
// was handed over. Not for concurrent use.
type Writer struct {
	path    string
	project string
	start   time.Duration
	late    []kasoku.LoadSecond // that could not be written yet
}

// NewWriter returns a writer to a file, the one that [Env] names or that of a listener,
// for a load that began at began, which must have a monotonic reading.
func NewWriter(path string, began time.Time) (*Writer, error) {
	start, err := monotonic(began)
	if err != nil {
		return nil, fmt.Errorf("hand over load: %w", err)
	}
	return &Writer{path: path, project: here(), start: start}, nil
}

// Write appends a record; Process, Project and StartMonotonic are filled in. A record is a
// line, and each begins a new one, so that one that was cut short by a full disk or
// the end of its process spoils no other. The seconds of a record that could not
// be written are written with the next.
func (w *Writer) Write(h Report) error {
	h.Process, h.Project, h.StartMonotonic = os.Getpid(), w.project, w.start
	h.Seconds = append(w.late, h.Seconds...)
	w.late = h.Seconds
	line, err := appendReport([]byte{'\n'}, &h)
	if err != nil {
		return fmt.Errorf("hand over load: %w", err)
	}
	f, err := private.State.Open(w.path, os.O_APPEND)
	if err != nil {
		return fmt.Errorf("hand over load: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("hand over load: %w", err)
	}
	w.late = nil
	return nil
}

func appendReport(dst []byte, h *Report) ([]byte, error) {
	w := wireReport{Report: *h, Seconds: make([]wireSecond, len(h.Seconds))}
	w.Report.Seconds = nil
	for i, s := range h.Seconds {
		ws := wireSecond{LoadSecond: s}
		for _, part := range []struct {
			h   *histogram.Histogram
			out *[]byte
		}{{s.Latency, &ws.Latency}, {s.SendDelay, &ws.SendDelay}, {s.Service, &ws.Service}} {
			b, err := part.h.AppendBinary(nil)
			if err != nil {
				return nil, fmt.Errorf("encode histogram: %w", err)
			}
			*part.out = b
		}
		ws.LoadSecond.Latency, ws.LoadSecond.SendDelay, ws.LoadSecond.Service = nil, nil, nil
		w.Seconds[i] = ws
	}
	b, err := json.Marshal(w)
	return append(dst, b...), err
}

func parseReport(b []byte) (*Report, error) {
	var w wireReport
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("read handed over load: %w", err)
	}
	h := w.Report
	h.Seconds = make([]kasoku.LoadSecond, len(w.Seconds))
	for i, ws := range w.Seconds {
		s := ws.LoadSecond
		for _, part := range []struct {
			b   []byte
			out **histogram.Histogram
		}{{ws.Latency, &s.Latency}, {ws.SendDelay, &s.SendDelay}, {ws.Service, &s.Service}} {
			*part.out = histogram.New()
			if err := (*part.out).UnmarshalBinary(part.b); err != nil {
				return nil, fmt.Errorf("read handed over histogram: %w", err)
			}
		}
		h.Seconds[i] = s
	}
	return &h, nil
}

// A reader reads records while they are written. It keeps none.
type reader struct {
	path string
	read int64 // so far
}

// next returns the whole records that were written since it was called last, and
// an error beside those that could be read.
func (r *reader) next() ([]*Report, error) {
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, r.read, 1<<62))
	if err != nil {
		return nil, err
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	r.read += int64(whole)
	var out []*Report
	var errs []error
	for line := range bytes.Lines(b[:whole]) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		h, err := parseReport(line)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, h)
	}
	// What was read need not take room any more. Not each file system can do that.
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, r.read)
	return out, errors.Join(errs...)
}
