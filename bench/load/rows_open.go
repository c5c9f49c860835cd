package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// rates are those of the open loops, requests per second.
var rates = []int{5_000, 20_000}

// economical is the name of our contestant that wakes up each millisecond.
const economical = "kasoku, economical"

func (b *bench) pacingAt(perSec int) place {
	w := work{perSec: perSec, conns: connections, length: b.each + settling}
	return b.atSink("pacing", unit.Count(perSec)+"/s", w, recordFlags(w)...)
}

func pacingRow(ctx context.Context, b *bench) error {
	for _, rate := range rates {
		all := []contestant{b.record(recorded, b.rounds), b.record(economical, b.peerRounds, "--pacing", "economical")}
		if !b.quick {
			all = append(all, b.attack(alone, b.peerRounds))
		}
		if !b.quick || rate == reachedRate {
			all = append(all, b.openPeers()...)
		}
		if err := b.contest(ctx, b.pacingAt(rate), all); err != nil {
			return err
		}
	}
	return nil
}

func printPacing(b *bench) {
	for i, rate := range rates {
		at := b.pacingAt(rate)
		if i > 0 {
			fmt.Fprintln(b.out)
		}
		b.printPacing(at)
		for _, g := range []goal{{what: "p50", got: b.book.median(at, recorded, "p50_us"), must: 25, aim: 12},
			{what: "p99", got: b.book.median(at, recorded, "p99_us"), must: 200, aim: 100}} {
			g.what, g.unit = fmt.Sprintf("deviation %s at %s", g.what, at.setting), " µs"
			b.goals = append(b.goals, g)
		}
	}
}

// printPacing prints how evenly requests came in one place.
func (b *bench) printPacing(at place) {
	var table [][]string
	for _, name := range b.book.met(at) {
		get := func(figure string) string { return formatNumber(b.book.median(at, name, figure)) }
		table = append(table, []string{name, get("p50_us"), get("p90_us"), get("p99_us"),
			formatNumber(100 * b.book.median(at, name, "bursts")), get("per_ms_sd"),
			b.book.arrived(at, name), get("cpu_us")})
	}
	writeTable(b.out, []string{at.setting, "p50 µs", "p90 µs", "p99 µs", "gaps < 10 µs %", "sd in a ms", "arrived %",
		"CPU µs/req"}, table)
}

// The settings of the row "open".
func (b *bench) openAt(perSec int) place {
	w := work{perSec: perSec, conns: connections, length: b.each}
	if perSec < reachedRate {
		w.length = b.thin
	}
	return b.atSink("open", unit.Count(perSec)+"/s", w)
}

func (b *bench) openUnit() place {
	return b.atSink("open", "closed loop", work{conns: connections, length: b.each})
}

func openRow(ctx context.Context, b *bench) error {
	all := map[int][]contestant{}
	for _, rate := range rates {
		all[rate] = []contestant{b.record(recorded, b.rounds), b.record(economical, b.rounds, "--pacing", "economical")}
		if !b.quick || rate == reachedRate {
			all[rate] = append(all[rate], b.openPeers()...)
		}
	}
	wrk := b.closedPeers("wrk")[:1] // the first of the peers
	// Each round has all rates and wrk's closed loop, which is their unit.
	for round := range b.rounds {
		if _, err := b.once(ctx, b.openUnit(), &wrk[0], round); err != nil {
			return err
		}
		for _, rate := range rates {
			for i := range all[rate] {
				c := &all[rate][(i+round)%len(all[rate])]
				if round >= c.rounds {
					continue
				}
				if _, err := b.once(ctx, b.openAt(rate), c, round); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func printOpen(b *bench) {
	base := b.openUnit()
	fmt.Fprintf(b.out, "  wrk's closed loop: %s µs of CPU a request\n", formatNumber(b.book.median(base, "wrk", "cpu_us")))
	must := map[string][]goal{
		economical: {{must: 2.7, aim: 2.3}, {must: 1.8, aim: 1.6}},
		recorded:   {{must: 7.5, aim: 4.5}, {must: 4.6, aim: 3.5}},
	}
	for i, rate := range rates {
		at := b.openAt(rate)
		fmt.Fprintln(b.out)
		var table [][]string
		for _, name := range b.book.met(at) {
			table = append(table, []string{name, formatNumber(b.book.median(at, name, "cpu_us")),
				ratioOf(b.book.paired(at, name, "cpu_us", base, "wrk")),
				b.book.arrived(at, name), b.peakMB(b.book.get(at, name, "peak_rss_bytes"))})
		}
		writeTable(b.out, []string{at.setting, "CPU µs/req", "× wrk, closed", "arrived %", "peak MB"}, table)
		for _, name := range []string{economical, recorded} {
			g := must[name][i]
			g.got, g.unit = middleValue(b.book.paired(at, name, "cpu_us", base, "wrk")), " × wrk"
			g.what = "economical at " + at.setting
			if name == recorded {
				g.what = "precise at " + at.setting
			}
			b.goals = append(b.goals, g)
		}
	}
}

// The rates of the row "reached": the one that must be kept, and the aim.
const (
	reachedRate = 20_000
	reachedAim  = 60_000
)

func (b *bench) reachedAt(perSec int, length time.Duration) place {
	w := work{perSec: perSec, conns: connections, length: length}
	return b.atSink("reached", unit.Count(perSec)+"/s", w, recordFlags(w)...)
}

func (b *bench) reachedPlaces() []place {
	return []place{b.reachedAt(reachedRate, b.long), b.reachedAt(reachedAim, b.long/3)}
}

func reachedRow(ctx context.Context, b *bench) error {
	for _, at := range b.reachedPlaces() {
		c := b.record(recorded, 1)
		c.invoke = watchInvocation(c.invoke)
		r, err := b.once(ctx, at, &c, 0)
		if err != nil || r.requests == 0 {
			return err
		}
		t, err := b.show(ctx)
		if err != nil {
			return err
		}
		b.note(fmt.Sprintf("kasoku at %s: engine %s, pacing %s", at.setting, t.Generator.Engine, t.Generator.Pacing))
		add := func(figure string, v float64) { b.book.add(at, recorded, 0, figure, v) }
		// What was counted and the time that it took must both be what was asked.
		add("off", max(math.Abs(float64(r.requests)/at.work.asked()-1), math.Abs(r.perSec/float64(at.work.perSec)-1)))
		add("failed", float64(t.Steps[0].Failed))
		add("delay_p99_us", t.Steps[0].SendDelay.P99*1e6)
		add("delay_max_us", t.Steps[0].SendDelay.Max*1e6)
		first, second := compareHalves(r.memory.readings)
		add("first_half_bytes", first)
		add("second_half_bytes", second)
	}
	return nil
}

// watchInvocation reads the memory of what is invoked.
func watchInvocation(invoke func(work) invocation) func(work) invocation {
	return func(w work) invocation {
		in := invoke(w)
		in.memory = true
		return in
	}
}

func printReached(b *bench) {
	var table [][]string
	for _, at := range b.reachedPlaces() {
		get := func(figure string) float64 { return b.book.median(at, recorded, figure) }
		table = append(table, []string{at.setting + " for " + at.work.duration(), formatNumber(get("requests")),
			formatNumber(100 * get("off")), formatNumber(get("failed")), formatNumber(get("delay_p99_us")),
			formatNumber(get("delay_max_us")), formatNumber(get("p50_us")), formatNumber(get("p99_us")),
			formatNumber(get("cpu_us")), formatNumber(get("first_half_bytes") / 1e6),
			formatNumber(get("second_half_bytes") / 1e6)})
	}
	writeTable(b.out, []string{"asked", "arrived", "off by %", "failed", "late p99 µs", "late max µs",
		"deviation p50 µs", "p99 µs", "CPU µs/req", "MB, first half", "second half"}, table)
	must, aim := b.reachedPlaces()[0], b.reachedPlaces()[1]
	get := func(at place, figure string) float64 { return b.book.median(at, recorded, figure) }
	b.goals = append(b.goals,
		goal{what: "off at " + must.setting, unit: " %", got: 100 * get(must, "off"), must: 0.05, aim: none},
		goal{what: "failed at " + must.setting, got: get(must, "failed"), must: 0, aim: none},
		goal{what: "memory, second half", unit: " × first half", got: get(must, "second_half_bytes") / get(must,
			"first_half_bytes"), must: 1.05, aim: none},
		goal{what: "off at " + aim.setting, unit: " %", got: 100 * get(aim, "off"), must: none, aim: 0.05})
}
