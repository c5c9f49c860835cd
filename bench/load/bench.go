package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// A plan defines how long all of it takes.
type plan struct {
	rounds     int           // of kasoku, wrk and whatever a goal is about
	peerRounds int           // of the other peers
	each       time.Duration // one run of a program
	peer       time.Duration // one of a peer that no goal is about
	settled    time.Duration // one where the beginning and the end of a program would count too much
	thin       time.Duration // one at a low rate, where they would count even more
	long       time.Duration // the one that must reach what was asked
	quick      bool
}

// fewer is the number of rounds for rows whose figures hardly differ from round to round.
func (p *plan) fewer() int {
	if p.quick {
		return 1
	}
	return p.rounds
}

// A bench measures rows and keeps what it measured.
type bench struct {
	lab
	plan
	peers    []*peer
	version  float64 // peak memory of `kasoku version`, bytes
	book     book
	goals    []goal
	notes    []string // on the row at hand, such as programs that failed
	out      io.Writer
	progress func(string) // what is being done
}

// A row is one line of the table of goals, or two that are measured together.
type row struct {
	name  string
	about string
	run   func(context.Context, *bench) error // measures; the error of one program is none of the row
	print func(*bench)
}

func allRows() []row {
	return []row{
		{"closed", "closed loop, 64 connections, 1 KB, a server that is faster than the generators: CPU per request, requests per second", closedRow, printClosed},
		{"nginx", "closed loop, 64 connections, 1 KB, nginx: CPU per request", nginxRow, printNginx},
		{"pacing", "how evenly requests come to the server at 5,000 and 20,000/s", pacingRow, printPacing},
		{"reached", "reached = asked at 20,000/s over a minute, and at 60,000/s; memory over that time", reachedRow,
			printReached},
		{"open", "open loop at 5,000 and 20,000/s, economical and precise: CPU per request in units of wrk's closed loop",
			openRow, printOpen},
		{"memory", "memory at 64 and 10,000 connections above kasoku version", memoryRow, printMemory},
		{"overload", "a server that stands still for a second under 20,000/s: memory, requests in flight, p99",
			overloadRow, printOverload},
		{"nethttp", "the nethttp engine beside a plain net/http client: CPU per request", nethttpRow, printNethttp},
		{"output", "results as gob and csv at 50,000/s: none lost, pacing unchanged", outputRow, printOutput},
		{"report", "report and encode of 200,000 results of Vegeta: CPU per result", reportRow, printReport},
	}
}

// chooseRows returns the rows of these names, all of them for none.
func chooseRows(names []string) ([]row, error) {
	all := allRows()
	for _, n := range names {
		if !slices.ContainsFunc(all, func(r row) bool { return r.name == n }) {
			return nil, fmt.Errorf("no row %q: want %s", n, strings.Join(rowNames(all), ", "))
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(r row) bool { return !slices.Contains(names, r.name) }), nil
}

func rowNames(rows []row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.name
	}
	return out
}

// measure runs the rows and prints each as soon as it is done. When ctx ends it
// prints what it has. A row that cannot be measured does not keep the others from
// it; the error is about all of them.
func (b *bench) measure(ctx context.Context, rows []row) (err error) {
	for _, r := range rows {
		b.notes = nil
		first := len(b.goals)
		if e := r.run(ctx, b); e != nil && ctx.Err() == nil {
			b.note("not measured to the end: " + e.Error())
			err = errors.Join(err, fmt.Errorf("%s: %w", r.name, e))
		}
		b.progress("")
		fmt.Fprintf(b.out, "\n%s: %s\n\n", r.name, r.about)
		r.print(b)
		for _, n := range b.notes {
			fmt.Fprintf(b.out, "  %s\n", n)
		}
		for i := range b.goals[first:] {
			b.goals[first+i].row = r.name
		}
		if len(b.goals) > first {
			fmt.Fprintln(b.out)
			writeGoals(b.out, b.goals[first:])
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

// A contestant is a program in a row.
type contestant struct {
	name   string
	rounds int
	length time.Duration // 0: the place's
	invoke func(w work) invocation
}

// contest runs the contestants round by round, each round beginning with another
// one, and enters what every run came to.
func (b *bench) contest(ctx context.Context, at place, all []contestant) error {
	for round := range b.rounds {
		for i := range all {
			c := &all[(i+round)%len(all)]
			if round >= c.rounds {
				continue
			}
			if _, err := b.once(ctx, at, c, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// A place is where a row's contestants meet.
type place struct {
	row, setting string
	work         work
	serve        func(context.Context) (server, error)
}

// once runs a contestant. That it failed is noted; the error is that of ctx or
// of the server.
func (b *bench) once(ctx context.Context, at place, c *contestant, round int) (reading, error) {
	b.progress(fmt.Sprintf("%s %s, round %d of %d: %s", at.row, at.setting, round+1, c.rounds, c.name))
	srv, err := at.serve(ctx)
	if err != nil {
		return reading{}, err
	}
	w := at.work
	w.url, w.dir = srv.url(), b.dir
	if c.length > 0 {
		w.length = c.length
	}
	r, err := b.run(ctx, srv, c.invoke(w))
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		b.note(fmt.Sprintf("%s failed: %s", c.name, strings.ReplaceAll(err.Error(), "\n", ": ")))
		return r, nil
	}
	b.enter(at, c.name, round, &r)
	if w.perSec > 0 {
		b.book.add(at, c.name, round, "asked", w.asked())
	}
	return r, nil
}

// note keeps a line for below the row's table.
func (b *bench) note(text string) {
	if !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}

// enter keeps the figures that every run has.
func (b *bench) enter(at place, program string, round int, r *reading) {
	add := func(figure string, v float64) { b.book.add(at, program, round, figure, v) }
	add("cpu_us", r.perRequest())
	add("per_s", r.perSec)
	add("requests", float64(r.requests))
	add("peak_rss_bytes", float64(r.maxRSS))
	add("server_busy", float64(r.served.cpu)/float64(r.wall))
	if m := r.memory; len(m.readings) > 0 {
		add("watched_rss_bytes", m.peak)
	}
	if p := r.sink.Pacing; p != nil {
		add("p50_us", inMicros(p.P50))
		add("p90_us", inMicros(p.P90))
		add("p99_us", inMicros(p.P99))
		add("bursts", p.BurstRatio)
		add("per_ms_sd", p.PerMilliSigma)
	}
}

// atSink returns a place with a new sink for each run.
func (b *bench) atSink(row, setting string, w work, flags ...string) place {
	return place{row: row, setting: setting, work: w, serve: func(ctx context.Context) (server, error) {
		return b.sink(ctx, flags...)
	}}
}

// recordFlags lets a sink keep arrivals for a rate.
func recordFlags(w work) []string {
	return []string{"-rate", fmt.Sprint(w.perSec), "-record", fmt.Sprint(w.perSec * int(w.length.Seconds()+2))}
}

// closedPeers and openPeers are the peers that are here, with as many rounds as
// the others of the row or fewer.
func (b *bench) closedPeers(full ...string) []contestant {
	return b.peersWith(func(p *peer) func(work) []string { return p.closed }, full)
}

func (b *bench) openPeers(full ...string) []contestant {
	return b.peersWith(func(p *peer) func(work) []string { return p.open }, full)
}

func (b *bench) peersWith(args func(*peer) func(work) []string, full []string) []contestant {
	var out []contestant
	for _, p := range b.peers {
		build := args(p)
		if p.path == "" || build == nil {
			continue
		}
		c := contestant{name: p.name, rounds: b.peerRounds, length: b.peer,
			invoke: func(w work) invocation { return p.invocation(w, build(w)) }}
		if slices.Contains(full, p.name) {
			c.rounds, c.length = b.rounds, 0
		}
		out = append(out, c)
	}
	return out
}

func (p *peer) invocation(w work, args []string) invocation {
	in := invocation{path: p.path, args: args, env: p.env, exits: p.exits, length: w.length}
	if p.stdin != nil {
		in.stdin = p.stdin(w)
	}
	return in
}

var none = math.NaN()
