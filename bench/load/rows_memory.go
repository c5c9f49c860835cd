package main

import (
	"context"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// manyConnections is the larger setting of the row "memory".
const manyConnections = 10_000

func (b *bench) memoryAt(conns int) place {
	w := work{conns: conns, length: b.each}
	if conns == manyConnections {
		// Each connection asks twice a second, which a core serves in any case.
		return b.atSink("memory", unit.Count(conns)+" connections", w, "-service", "500ms")
	}
	return b.atSink("memory", unit.Count(conns)+" connections", w)
}

func memoryRow(ctx context.Context, b *bench) error {
	for _, conns := range []int{connections, manyConnections} {
		at := b.memoryAt(conns)
		all := []contestant{b.attack(alone, b.peerRounds)}
		for _, c := range b.closedPeers() {
			if conns == manyConnections && (c.name == "k6" || c.name == "ab") || conns == connections && b.quick {
				continue // neither of them takes so many
			}
			c.rounds = 1
			all = append(all, c)
		}
		for i := range all {
			all[i].invoke = watchInvocation(all[i].invoke)
			for round := range all[i].rounds {
				r, err := b.once(ctx, at, &all[i], round)
				if err != nil {
					return err
				}
				b.book.add(at, all[i].name, round, "connections", float64(r.sink.PeakOpen))
			}
		}
	}
	return nil
}

func printMemory(b *bench) {
	fmt.Fprintf(b.out, "  kasoku version: %s MB\n", formatNumber(b.version/1e6))
	for _, conns := range []int{connections, manyConnections} {
		at := b.memoryAt(conns)
		fmt.Fprintln(b.out)
		var table [][]string
		for _, name := range b.book.met(at) {
			peak := b.book.median(at, name, "watched_rss_bytes")
			above := ""
			if name == alone {
				above = formatNumber((peak - b.version) / 1e6)
			}
			table = append(table, []string{name, formatNumber(b.book.median(at, name, "connections")),
				formatNumber(peak / 1e6), above, formatNumber(b.book.median(at, name, "per_s"))})
		}
		writeTable(b.out, []string{at.setting, "at once", "peak MB", "above version", "req/s"}, table)
		g := goal{what: "above version at " + at.setting, unit: " MB",
			got: (b.book.median(at, alone, "watched_rss_bytes") - b.version) / 1e6, must: 12, aim: 8}
		if conns == manyConnections {
			g.must, g.aim = 100, 60
			if n := b.book.median(at, alone, "connections"); n < manyConnections {
				g.got = none
				b.note(fmt.Sprintf("kasoku had only %s connections at once; is ulimit -n below 10,100?", formatNumber(n)))
			}
		}
		b.goals = append(b.goals, g)
	}
}

// The stall of the row "overload".
const (
	stallAt  = 3 * time.Second
	stallFor = time.Second
)

func (b *bench) overloadAt(stall bool) place {
	w := work{perSec: reachedRate, length: 6 * time.Second}
	if !b.quick {
		w.length = 10 * time.Second
	}
	if !stall {
		return b.atSink("overload", "no stall", w)
	}
	return b.atSink("overload", "stall", w, "-stall-at", stallAt.String(), "-stall", stallFor.String())
}

func overloadRow(ctx context.Context, b *bench) error {
	for round := range b.peerRounds {
		for _, stall := range []bool{false, true} {
			at := b.overloadAt(stall)
			c := b.record(recorded, b.peerRounds)
			c.invoke = watchInvocation(c.invoke)
			r, err := b.once(ctx, at, &c, round)
			if err != nil {
				return err
			}
			if r.requests == 0 {
				continue
			}
			t, err := b.show(ctx)
			if err != nil {
				return err
			}
			add := func(figure string, v float64) { b.book.add(at, recorded, round, figure, v) }
			add("latency_p99_s", t.Steps[0].Latency.P99)
			add("in_flight", float64(t.Generator.PeakInFlight))
			add("in_flight_cap", float64(t.Generator.MaxInFlight))
			add("failed", float64(t.Steps[0].Failed))
			if s := r.sink.Stall; s != nil {
				theory := stallTheory{PerSec: float64(at.work.perSec), Length: at.work.length, For: s.For, Drained: s.Drained}
				add("theory_p99_s", theory.p99().Seconds())
			}
		}
	}
	return nil
}

func printOverload(b *bench) {
	normal, stall := b.overloadAt(false), b.overloadAt(true)
	var table [][]string
	for _, at := range []place{normal, stall} {
		get := func(figure string) float64 { return b.book.median(at, recorded, figure) }
		table = append(table, []string{at.setting, formatNumber(get("requests")), formatNumber(get("failed")),
			formatNumber(get("watched_rss_bytes") / 1e6), formatNumber(get("in_flight")), formatNumber(get("in_flight_cap")),
			formatNumber(get("latency_p99_s") * 1e3), formatNumber(get("theory_p99_s") * 1e3)})
	}
	writeTable(b.out, []string{"20,000/s", "requests", "failed", "peak MB", "in flight", "cap", "p99 ms",
		"in theory ms"}, table)
	p99, theory := b.book.get(stall, recorded, "latency_p99_s"), b.book.get(stall, recorded, "theory_p99_s")
	b.goals = append(b.goals,
		goal{what: "memory", unit: " × normal", got: middleValue(b.book.paired(stall, recorded, "watched_rss_bytes",
			normal, recorded)), must: 2, aim: none},
		goal{what: "in flight", unit: " × cap", got: middleValue(ratiosOf(b.book.get(stall, recorded, "in_flight"),
			b.book.get(stall, recorded, "in_flight_cap"))), must: 1, aim: none},
		goal{what: "p99 off theory", unit: " %", got: 100 * middleValue(offTarget(ratiosOf(p99, theory))), must: 5,
			aim: none})
}

// offTarget returns how far ratios are from 1.
func offTarget(ratios []float64) []float64 {
	out := make([]float64, len(ratios))
	for i, r := range ratios {
		out[i] = max(r-1, 1-r)
	}
	return out
}
