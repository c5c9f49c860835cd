package main

import (
	"context"
	"os"
	"slices"

	"github.com/kasoku/kasoku/internal/command"
)

// bodyBytes is the size of an answer's body.
const bodyBytes = 1024

// closedAt is the place of the row of this name.
func (b *bench) closedAt() place {
	return b.atSink("closed", "", work{conns: connections, length: b.settled})
}

func closedRow(ctx context.Context, b *bench) error {
	return b.contest(ctx, b.closedAt(), append([]contestant{b.record(recorded, b.rounds), b.attack(alone, b.rounds)},
		b.closedPeers("wrk")...))
}

func printClosed(b *bench) {
	at := b.closedAt()
	b.printClosed(at, "sink busy %")
	b.goals = append(b.goals,
		goal{what: "CPU per request", unit: " × wrk", got: middleValue(b.book.paired(at, recorded, "cpu_us", at, "wrk")),
			must: 0.90, aim: 0.80},
		goal{what: "requests per second", unit: " × wrk", got: middleValue(b.book.paired(at, recorded, "per_s", at,
			"wrk")), must: 1.12, aim: 1.25, atLeast: true})
}

// nginxAt is the place of the row of this name, without its server.
func (b *bench) nginxAt() place {
	return place{row: "nginx", work: work{conns: connections, length: b.settled}}
}

func nginxRow(ctx context.Context, b *bench) error {
	n, err := b.nginx(ctx, bodyBytes)
	if err != nil {
		return err
	}
	defer func() { _ = n.Stop(context.WithoutCancel(ctx)) }() // it is killed then
	at := b.nginxAt()
	at.serve = func(ctx context.Context) (server, error) { return n, n.begin(ctx) }
	all := append([]contestant{b.record(recorded, b.rounds)}, b.closedPeers("wrk", "oha")...)
	if !b.quick {
		all = append(all, b.attack(alone, b.rounds))
	}
	return b.contest(ctx, at, all)
}

func printNginx(b *bench) {
	at := b.nginxAt()
	b.printClosed(at, "nginx busy %")
	oha := goal{what: "CPU per request", unit: " × oha", got: middleValue(b.book.paired(at, recorded, "cpu_us", at,
		"oha")), must: 0.75, aim: 0.66}
	if b.lacks("oha") {
		oha.why = "oha is not here"
	}
	b.goals = append(b.goals,
		goal{what: "CPU per request", unit: " × wrk", got: middleValue(b.book.paired(at, recorded, "cpu_us", at, "wrk")),
			must: 1.05, aim: 0.95}, oha)
}

// lacks reports whether a peer is missing.
func (b *bench) lacks(name string) bool {
	return !slices.ContainsFunc(b.peers, func(p *peer) bool { return p.name == name && p.path != "" })
}

// printClosed prints a closed loop's table.
func (b *bench) printClosed(at place, busy string) {
	var table [][]string
	for _, name := range b.book.met(at) {
		get := func(figure string) []float64 { return b.book.get(at, name, figure) }
		table = append(table, []string{name, medianOf(get("cpu_us")), ratioOf(b.book.paired(at, name, "cpu_us", at, "wrk")),
			medianOf(get("per_s")), ratioOf(b.book.paired(at, name, "per_s", at, "wrk")), b.peakMB(get("peak_rss_bytes")),
			medianOf(inPercent(get("server_busy")))})
	}
	writeTable(b.out, []string{"", "CPU µs/req", "× wrk", "req/s", "× wrk", "peak MB", busy}, table)
}

// peakMB prints peak memory. A child's figure begins at that of its parent, so
// what is no more than ours is only known to be below it.
func (b *bench) peakMB(values []float64) string {
	m := middleValue(values)
	if _, own, err := command.Memory(os.Getpid()); err == nil && m <= float64(own) {
		return "< " + formatNumber(float64(own)/1e6)
	}
	return formatNumber(m / 1e6)
}

func inPercent(values []float64) []float64 { return scaleAll(values, 100) }

func scaleAll(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return out
}
