package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/unit"
)

// The load of `load stall`.
const (
	stallRate   = 2_000
	stallLength = 10 * time.Second
)

// seen is what a load generator reports.
type seen struct {
	requests uint64
	p50, p99 time.Duration
	max      time.Duration
}

func stallCommand(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	var l lab
	labFlags(flags, &l)
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, missing, err := l.complete(ctx)
	if err != nil {
		return err
	}
	w := work{perSec: stallRate, length: stallLength, conns: connections, dir: l.dir}
	theory := stallTheory{PerSec: stallRate, Length: stallLength, For: stallFor, Drained: math.Inf(1)}
	fmt.Fprintf(out, `A server answers at once, but in %[1]s it stands still for %[2]s, once. Of users who come
%[3]s a second, one in ten comes in that second and waits for what is left of it:
their p99 is %[4]s, by arithmetic.

`, stallLength, stallFor, unit.Count(stallRate), unit.Duration(theory.p99()))
	var table [][]string
	for _, s := range stories {
		seen, err := l.seenBy(ctx, w, s, all)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", s.name, err)
		case seen != nil:
			table = append(table, seen.row(s.name+", "+s.how))
		}
	}
	writeTable(out, []string{"", "requests", "p50 ms", "p99 ms", "max ms"}, table)
	fmt.Fprintf(out, `
ab asks over %[1]d connections, each of which waits for its answer before it asks again:
while the server stands still, no one asks. That leaves %[1]d slow requests among all
the fast ones, far fewer than 1 in 100, and its p99 does not see the second in which
no one was served. wrk asks likewise, and guesses afterwards which requests were not
made. kasoku asks when a request is due, whatever became of those before, and
counts from when it was due.
`, connections)
	if slices.Contains(missing, "wrk2") {
		fmt.Fprintln(out, "\nmissing: wrk2, which keeps a rate too")
	}
	return nil
}

// A story is what one generator says of the server. Without a parser it is kasoku's.
type story struct {
	name  string
	how   string   // it asks
	args  []string // before its others
	parse func(string) (seen, error)
}

var stories = []story{
	{"ab", "64 connections", nil, parseAB},
	{"wrk", "64 connections", []string{"--latency"}, parseWrk},
	{"wrk2", "2,000/s", []string{"--latency"}, parseWrk},
	{"kasoku attack", "2,000/s", nil, nil},
}

// seenBy lets a generator load a server that stands still once. It returns nil
// when the generator is not here.
func (l *lab) seenBy(ctx context.Context, w work, s story, all []*peer) (*seen, error) {
	i := slices.IndexFunc(all, func(p *peer) bool { return p.name == s.name })
	if i >= 0 && all[i].path == "" {
		return nil, nil
	}
	srv, err := l.sink(ctx, "-stall-at", stallAt.String(), "-stall", stallFor.String())
	if err != nil {
		return nil, err
	}
	w.url = srv.url()
	var out seen
	if i < 0 {
		out, err = l.seenByKasoku(ctx, w)
	} else {
		args := all[i].open
		if args == nil {
			args = all[i].closed
		}
		var said []byte
		if said, err = l.output(ctx, all[i].path, append(slices.Clone(s.args), args(w)...)...); err == nil {
			out, err = s.parse(string(said))
		}
	}
	_, finishErr := srv.finish(context.WithoutCancel(ctx))
	return &out, errors.Join(err, finishErr)
}

func (s *seen) row(name string) []string {
	ms := func(d time.Duration) string { return formatNumber(float64(d) / float64(time.Millisecond)) }
	return []string{name, unit.Count(s.requests), ms(s.p50), ms(s.p99), ms(s.max)}
}

var (
	wrkQuantile = regexp.MustCompile(`(?m)^\s+(50|99)(?:\.000)?%\s+([0-9.]+(?:us|ms|s|m))$`)
	wrkMax      = regexp.MustCompile(`(?m)^\s+Latency\s+\S+\s+\S+\s+(\S+)`)
	wrkRequests = regexp.MustCompile(`(\d+) requests in`)
)

// parseWrk reads what wrk or wrk2 prints with --latency.
func parseWrk(text string) (s seen, err error) {
	for _, m := range wrkQuantile.FindAllStringSubmatch(text, -1) {
		d, err := time.ParseDuration(m[2])
		if err != nil {
			return s, err
		}
		if m[1] == "50" {
			s.p50 = d
		} else if s.p99 == 0 {
			s.p99 = d
		}
	}
	top, count := wrkMax.FindStringSubmatch(text), wrkRequests.FindStringSubmatch(text)
	if s.p99 == 0 || top == nil || count == nil {
		return s, fmt.Errorf("output of wrk: %q", text)
	}
	if s.max, err = time.ParseDuration(top[1]); err != nil {
		return s, fmt.Errorf("output of wrk: %w", err)
	}
	s.requests, err = strconv.ParseUint(count[1], 10, 64)
	return s, err
}

var (
	abQuantile = regexp.MustCompile(`(?m)^ *(50|99|100)% +(\d+)`)
	abRequests = regexp.MustCompile(`Complete requests: +(\d+)`)
)

// parseAB reads what ab prints, which is in whole milliseconds.
func parseAB(text string) (s seen, err error) {
	found, count := abQuantile.FindAllStringSubmatch(text, -1), abRequests.FindStringSubmatch(text)
	if len(found) != 3 || count == nil {
		return s, fmt.Errorf("output of ab: %q", text)
	}
	for i, to := range []*time.Duration{&s.p50, &s.p99, &s.max} {
		ms, err := strconv.ParseInt(found[i][2], 10, 64)
		if err != nil {
			return s, fmt.Errorf("output of ab: %w", err)
		}
		*to = time.Duration(ms) * time.Millisecond
	}
	s.requests, err = strconv.ParseUint(count[1], 10, 64)
	return s, err
}

// seenByKasoku attacks and reports as one does with Vegeta.
func (l *lab) seenByKasoku(ctx context.Context, w work) (s seen, err error) {
	file := filepath.Join(w.dir, "stall.gob")
	defer os.Remove(file)
	if _, err = l.output(ctx, l.kasoku, "attack", "-target", "GET "+w.url, "-rate", strconv.Itoa(w.perSec),
		"-duration", w.duration(), "-output", file); err != nil {
		return s, err
	}
	var out bytes.Buffer
	if _, err = command.Run(ctx, command.Spec{Path: l.kasoku, Args: []string{"report", "-type", "json", file},
		Stdout: &out}); err != nil {
		return s, err
	}
	var r struct {
		Requests  uint64
		Latencies struct {
			P50 time.Duration `json:"50th"`
			P99 time.Duration `json:"99th"`
			Max time.Duration
		}
	}
	err = json.Unmarshal(out.Bytes(), &r)
	return seen{r.Requests, r.Latencies.P50, r.Latencies.P99, r.Latencies.Max}, err
}
