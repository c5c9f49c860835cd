package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// connections is how many a generator keeps where nothing else is said.
const connections = 64

// A work is what a generator is asked to do.
type work struct {
	url    string
	perSec int // 0: closed loop
	length time.Duration
	conns  int
	dir    string // in memory, for results
}

func (w work) seconds() string { return strconv.Itoa(int(w.length.Seconds())) }

func (w work) duration() string { return w.seconds() + "s" }

// asked is how many requests that is, 0 in a closed loop.
func (w work) asked() float64 { return float64(w.perSec) * w.length.Seconds() }

// A peer is another load generator.
type peer struct {
	name   string
	closed func(w work) []string // its arguments; nil: it has no closed loop
	open   func(w work) []string // nil: it keeps no rate
	stdin  func(w work) string   // nil: nothing
	env    []string
	exits  []int  // exit codes that are no failure, beside 0
	is     string // what its --help says, where another program has the same name

	path string // found here; empty: missing
}

// allPeers returns the load generators that kasoku is compared with, wrk first. Each
// runs on one core, and gets a flag for that where it does not see it by itself.
func allPeers() []*peer {
	number := strconv.Itoa
	return []*peer{
		{name: "wrk",
			closed: func(w work) []string { return []string{"-t1", "-c", number(w.conns), "-d", w.duration(), w.url} }},
		{name: "wrk2",
			open: func(w work) []string {
				return []string{"-t1", "-c", number(w.conns), "-d", w.duration(), "-R", number(w.perSec), w.url}
			}},
		{name: "h2load",
			closed: func(w work) []string {
				return []string{"--h1", "-t1", "-c", number(w.conns), "-D", w.seconds(), w.url}
			},
			open: func(w work) []string {
				return []string{"--h1", "-t1", "-c", number(h2loadClients), "--rps", number(w.perSec / h2loadClients), "-D",
					w.seconds(), w.url}
			}},
		{name: "ab",
			closed: func(w work) []string {
				return []string{"-q", "-k", "-c", number(w.conns), "-t", w.seconds(), "-n", "5000000", w.url}
			}},
		{name: "oha", env: []string{"TOKIO_WORKER_THREADS=1"},
			closed: func(w work) []string { return []string{"--no-tui", "-c", number(w.conns), "-z", w.duration(), w.url} },
			open: func(w work) []string {
				return []string{"--no-tui", "-c", number(w.conns), "-z", w.duration(), "-q", number(w.perSec),
					"--latency-correction", w.url}
			}},
		{name: "bombardier", is: "--connections",
			closed: func(w work) []string { return []string{"-c", number(w.conns), "-d", w.duration(), w.url} },
			open: func(w work) []string {
				return []string{"-c", number(w.conns), "-d", w.duration(), "-r", number(w.perSec), w.url}
			}},
		{name: "hey",
			closed: func(w work) []string { return []string{"-c", number(w.conns), "-z", w.duration(), w.url} }},
		{name: "vegeta", closed: vegetaArgs, open: vegetaArgs,
			stdin: func(w work) string { return "GET " + w.url + "\n" }},
		{name: "k6", closed: k6Args, open: k6Args, stdin: k6Script, exits: []int{99},
			env: []string{"K6_NO_USAGE_REPORT=true"}},
	}
}

// h2loadClients divides the rates that are asked for: h2load takes the rate of
// one client, a whole number.
const h2loadClients = 50

// vegetaArgs keeps the results in memory: else a disk would be measured.
func vegetaArgs(w work) []string {
	return []string{"attack", "-output", filepath.Join(w.dir, "vegeta.gob"), "-duration", w.duration(),
		"-rate", strconv.Itoa(w.perSec), "-max-workers", strconv.Itoa(w.conns)}
}

func k6Args(work) []string { return []string{"run", "--quiet", "--no-summary", "-"} }

func k6Script(w work) string {
	how := fmt.Sprintf("executor: 'constant-vus', vus: %d, duration: '%s'", w.conns, w.duration())
	if w.perSec > 0 {
		how = fmt.Sprintf("executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%s', preAllocatedVUs: %d, maxVUs: %d",
			w.perSec, w.duration(), w.conns, w.conns)
	}
	return fmt.Sprintf(`import http from 'k6/http';
export const options = { discardResponseBodies: true, scenarios: { load: { %s, gracefulStop: '1s' } } };
export default function () { http.get('%s'); }
`, how, w.url)
}

// findPeers looks for the peers in the directories and on PATH, and returns the names
// of those that are not there.
func findPeers(ctx context.Context, all []*peer, dirs []string) (missing []string) {
	for _, p := range all {
		for _, dir := range append(dirs, "") {
			path, err := command.LookPath(filepath.Join(dir, p.name))
			if err == nil && p.isIt(ctx, path) {
				p.path = path
				break
			}
		}
		if p.path == "" {
			missing = append(missing, p.name)
		}
	}
	return missing
}

// isIt reports whether the program is the one that is meant: Debian's bombardier
// is a game.
func (p *peer) isIt(ctx context.Context, path string) bool {
	if p.is == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var help bytes.Buffer
	_, err := command.Run(ctx, command.Spec{Path: path, Args: []string{"--help"}, Stdout: &help, Stderr: &help,
		Grace: time.Second})
	return err == nil && strings.Contains(help.String(), p.is)
}
