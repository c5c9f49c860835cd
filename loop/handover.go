package loop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/histogram"
)

// HandoverEnv names the environment variable by which a recording tells a
// `kasoku attack` that it runs where to leave its seconds, so that they become
// part of the run.
const HandoverEnv = "KASOKU_LOAD_FILE"

// A Handover is a load made by another process on the same host.
type Handover struct {
	StartMonotonic time.Duration // CLOCK_MONOTONIC at the load's start: the same clock in every process of a host
	Steps          []kasoku.Step // relative to the load's start
	Summary        kasoku.LoadSummary
	Seconds        []kasoku.LoadSecond // Second counts from the load's start
	Warnings       []kasoku.Warning
}

// Monotonic returns CLOCK_MONOTONIC at a moment; t must have a monotonic reading.
func Monotonic(t time.Time) (time.Duration, error) {
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

type wireHandover struct {
	Handover
	Seconds []wireSecond
}

// Write replaces the file at once, so that a reader never sees half of it.
func (h *Handover) Write(path string) error {
	w := wireHandover{Handover: *h, Seconds: make([]wireSecond, len(h.Seconds))}
	w.Handover.Seconds = nil
	for i, s := range h.Seconds {
		ws := wireSecond{LoadSecond: s}
		for _, part := range []struct {
			h   *histogram.Histogram
			out *[]byte
		}{{s.Latency, &ws.Latency}, {s.SendDelay, &ws.SendDelay}, {s.Service, &ws.Service}} {
			b, err := part.h.AppendBinary(nil)
			if err != nil {
				return fmt.Errorf("encode histogram: %w", err)
			}
			*part.out = b
		}
		ws.LoadSecond.Latency, ws.LoadSecond.SendDelay, ws.LoadSecond.Service = nil, nil, nil
		w.Seconds[i] = ws
	}
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return fmt.Errorf("hand over load: %w", err)
	}
	return os.Rename(temp, path)
}

// ReadHandover reads what another process left.
func ReadHandover(path string) (*Handover, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseHandover(b)
}

func parseHandover(b []byte) (*Handover, error) {
	var w wireHandover
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("read handed over load: %w", err)
	}
	h := w.Handover
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

// shift moves a handed over load onto the run's clock. Seconds are whole
// seconds of the load; they take the run's second in which they begin.
func (h *Handover) shift(by time.Duration) {
	for i := range h.Steps {
		h.Steps[i].Interval.From += by
		h.Steps[i].Interval.To += by
	}
	whole := int((by + time.Second/2) / time.Second)
	for i := range h.Seconds {
		h.Seconds[i].Second += whole
	}
}
