package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// plain is the name of the net/http client that one would write by hand.
const plain = "net/http, plain"

func (b *bench) nethttpAt() place {
	return b.atSink("nethttp", "", work{conns: connections, length: b.each})
}

func nethttpRow(ctx context.Context, b *bench) error {
	byHand := contestant{name: plain, rounds: b.rounds, invoke: func(w work) invocation {
		return invocation{path: b.self, args: []string{"plain", "-c", strconv.Itoa(w.conns), "-for", w.duration(), w.url},
			length: w.length}
	}}
	return b.contest(ctx, b.nethttpAt(), []contestant{b.attack("kasoku, nethttp", b.rounds, "-engine", "nethttp"), byHand})
}

func printNethttp(b *bench) {
	at := b.nethttpAt()
	var table [][]string
	for _, name := range b.book.met(at) {
		table = append(table, []string{name, formatNumber(b.book.median(at, name, "cpu_us")),
			ratioOf(b.book.paired(at, name, "cpu_us", at, plain)), formatNumber(b.book.median(at, name, "per_s")),
			b.peakMB(b.book.get(at, name, "peak_rss_bytes"))})
	}
	writeTable(b.out, []string{"", "CPU µs/req", "× plain", "req/s", "peak MB"}, table)
	b.goals = append(b.goals, goal{what: "CPU per request", unit: " × plain",
		got: middleValue(b.book.paired(at, "kasoku, nethttp", "cpu_us", at, plain)), must: 1.15, aim: 1.0})
}

// outputRate is that of the row "output".
const outputRate = 50_000

// The ways to write results in the row "output"; the first one writes none.
var encodings = []string{"none", "gob", "csv"}

func (b *bench) outputAt() place {
	w := work{perSec: outputRate, conns: connections, length: b.each + settling}
	return b.atSink("output", "", w, recordFlags(w)...)
}

func outputRow(ctx context.Context, b *bench) error {
	at, file := b.outputAt(), filepath.Join(b.dir, "results")
	defer os.Remove(file)
	for round := range b.fewer() {
		for i := range encodings {
			encoding := encodings[(i+round)%len(encodings)]
			c := b.attack(encoding, b.fewer())
			if encoding != "none" {
				c = b.attack(encoding, b.fewer(), "-output", file, "-encoding", encoding)
			}
			r, err := b.once(ctx, at, &c, round)
			if err != nil {
				return err
			}
			if r.requests == 0 || encoding == "none" {
				continue
			}
			n, err := b.results(ctx, file)
			if err != nil {
				return err
			}
			b.book.add(at, encoding, round, "lost", float64(r.requests)-float64(n))
		}
	}
	return nil
}

// results counts the results in a file.
func (l *lab) results(ctx context.Context, file string) (uint64, error) {
	out, err := l.output(ctx, l.kasoku, "report", "-type", "json", file)
	if err != nil {
		return 0, err
	}
	var r struct {
		Requests uint64 `json:"requests"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return 0, fmt.Errorf("kasoku report: %w", err)
	}
	return r.Requests, nil
}

func printOutput(b *bench) {
	at := b.outputAt()
	var table [][]string
	for _, encoding := range encodings {
		get := func(figure string) string { return formatNumber(b.book.median(at, encoding, figure)) }
		_, lost := spreadOf(b.book.get(at, encoding, "lost"))
		table = append(table, []string{encoding, get("requests"), formatNumber(lost), get("p50_us"), get("p90_us"),
			get("p99_us"), get("cpu_us"), b.peakMB(b.book.get(at, encoding, "peak_rss_bytes"))})
		if encoding == "none" {
			continue
		}
		b.goals = append(b.goals, goal{what: encoding + ": hits lost", got: lost, must: 0, aim: none})
		for _, q := range []string{"p50", "p99"} {
			with, without := b.book.median(at, encoding, q+"_us"), b.book.median(at, "none", q+"_us")
			// Below 10 µs two runs differ as much without any output.
			b.goals = append(b.goals, goal{what: encoding + ": deviation " + q, unit: " × without", got: max(with-10,
				0) / without, must: 1.25, aim: none})
		}
	}
	writeTable(b.out, []string{"50,000/s", "arrived", "lost", "p50 µs", "p90 µs", "p99 µs", "CPU µs/req", "peak MB"},
		table)
}

// resultCount is how many results the row "report" reads.
const resultCount = 200_000

// A reader is one way in which kasoku and vegeta read a file of results.
type reader struct {
	name string
	args []string // FILE stands after them
	must float64  // µs of CPU a result; NaN: only shown
	aim  float64
}

func allReaders() []reader {
	return []reader{
		{"report, text", []string{"report"}, 1.0, 0.5},
		{"report, json", []string{"report", "-type", "json"}, none, none},
		{"report, hdrplot", []string{"report", "-type", "hdrplot"}, none, none},
		{"encode, csv", []string{"encode", "-to", "csv"}, 2.8, 1.4},
		{"encode, json", []string{"encode", "-to", "json"}, 2.8, 1.4},
		{"encode, gob", []string{"encode", "-to", "gob"}, none, none},
	}
}

func reportRow(ctx context.Context, b *bench) error {
	file := filepath.Join(b.dir, "vegeta-results.gob")
	defer os.Remove(file)
	b.progress("report: making results")
	// In a process of its own, so that this one stays small.
	if _, err := b.output(ctx, b.self, "results", "-n", strconv.Itoa(resultCount), file); err != nil {
		return err
	}
	programs := map[string]string{recorded: b.kasoku}
	for _, p := range b.peers {
		if p.name == "vegeta" && p.path != "" {
			programs[p.name] = p.path
		}
	}
	for round := range b.fewer() {
		for _, r := range allReaders() {
			at := place{row: "report", setting: r.name}
			for _, name := range []string{recorded, "vegeta"} {
				if programs[name] == "" {
					continue
				}
				b.progress(fmt.Sprintf("report, round %d of %d: %s %s", round+1, b.fewer(), name, r.name))
				var out reading
				err := b.generate(ctx, invocation{path: programs[name], args: append(r.args[:len(r.args):len(r.args)], file),
					length: time.Minute}, &out)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					b.note(fmt.Sprintf("%s %s failed: %v", name, r.name, err))
					continue
				}
				b.book.add(at, name, round, "cpu_us", inMicros(out.cpu)/resultCount)
				b.book.add(at, name, round, "peak_rss_bytes", float64(out.maxRSS))
			}
		}
	}
	return nil
}

func printReport(b *bench) {
	var table [][]string
	for _, r := range allReaders() {
		at := place{row: "report", setting: r.name}
		ours := b.book.median(at, recorded, "cpu_us")
		table = append(table, []string{r.name, formatNumber(ours), formatNumber(b.book.median(at, "vegeta", "cpu_us")),
			ratioOf(b.book.paired(at, recorded, "cpu_us", at, "vegeta")),
			b.peakMB(b.book.get(at, recorded, "peak_rss_bytes"))})
		if r.must > 0 {
			b.goals = append(b.goals, goal{what: r.name, unit: " µs/result", got: ours, must: r.must, aim: r.aim})
		}
	}
	writeTable(b.out, []string{"200,000 results, to /dev/null", "CPU µs/result", "vegeta", "× vegeta", "peak MB"}, table)
}
