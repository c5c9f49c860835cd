package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
)

// The names of kasoku's own contestants.
const (
	// recorded is the honest one: the load is made below `kasoku record`, which
	// samples the host and its processes each second and writes the run file.
	// Both processes count.
	recorded = "kasoku"
	// alone is `kasoku attack` without a recording; its seconds are in histograms
	// all the same.
	alone = "kasoku attack"
)

// attackArgs are the arguments of `kasoku attack` for a work.
func attackArgs(w work, more ...string) []string {
	args := []string{"attack", "-target", "GET " + w.url, "-duration", w.duration(), "-o", "json"}
	n := strconv.Itoa(w.conns)
	switch {
	case w.perSec == 0:
		args = append(args, "-rate", "0", "-max-workers", n, "-connections", n)
	case w.conns > 0:
		args = append(args, "-rate", strconv.Itoa(w.perSec), "-max-connections", n)
	default: // as many as it likes
		args = append(args, "-rate", strconv.Itoa(w.perSec))
	}
	return append(args, more...)
}

// attack is a contestant that runs `kasoku attack` alone.
func (l *lab) attack(name string, rounds int, more ...string) contestant {
	return contestant{name: name, rounds: rounds, invoke: func(w work) invocation {
		return invocation{path: l.kasoku, args: attackArgs(w, more...), length: w.length}
	}}
}

// record is a contestant that runs `kasoku attack` below `kasoku record`.
func (l *lab) record(name string, rounds int, more ...string) contestant {
	return contestant{name: name, rounds: rounds, invoke: func(w work) invocation {
		args := []string{"record", "--no-slowlog", "--label", "bench", "-o", l.runFile(), "--", l.kasoku}
		// 1: the recording found something that is bad, such as a busy core.
		return invocation{path: l.kasoku, args: append(args, attackArgs(w, more...)...), exits: []int{1}, length: w.length,
			before: []string{l.runFile()}}
	}}
}

// runFile is where the last recording is.
func (l *lab) runFile() string { return filepath.Join(l.dir, "run.kasoku") }

// loadReport is what `kasoku show -o json` and `kasoku attack -o json` say of a load.
type loadReport struct {
	Generator struct {
		Engine       string `json:"engine"`
		Pacing       string `json:"pacing"`
		MaxInFlight  int    `json:"max_in_flight"`
		PeakInFlight int    `json:"peak_in_flight"`
	} `json:"generator"`
	Steps []struct {
		Requests  uint64        `json:"requests"`
		Failed    uint64        `json:"failed"`
		Latency   *distribution `json:"latency"`
		SendDelay *distribution `json:"send_delay"`
		Errors    []struct {
			Message string `json:"message"`
		} `json:"errors"`
	} `json:"steps"`
}

// A distribution is in seconds.
type distribution struct {
	P50 float64 `json:"p50_s"`
	P99 float64 `json:"p99_s"`
	Max float64 `json:"max_s"`
}

func parseLoadReport(b []byte) (*loadReport, error) {
	var t loadReport
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, fmt.Errorf("what kasoku says of the load: %w", err)
	}
	if len(t.Steps) != 1 || t.Steps[0].Latency == nil || t.Steps[0].SendDelay == nil {
		return nil, fmt.Errorf("what kasoku says of the load: %d steps, want one with latency and send delay", len(t.Steps))
	}
	return &t, nil
}

// show returns what the last recording says of its load.
func (l *lab) show(ctx context.Context) (*loadReport, error) {
	out, err := l.output(ctx, l.kasoku, "show", l.runFile(), "-o", "json")
	if err != nil {
		return nil, err
	}
	return parseLoadReport(out)
}
