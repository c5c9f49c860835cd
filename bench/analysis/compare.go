package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

type options struct {
	dir, kasoku, only string
	runs, peerRuns    int
}

// A work is something that kasoku and its peers do with one file.
type work struct {
	name  string
	file  string
	args  []string // of kasoku; FILE stands for the file, TOML for kataribe's settings
	stdin bool     // the file is the standard input
	must  float64  // MB/s on all cores, 0: only the ratios count
	aim   string
	peers []peer
}

// A peer does the same work, some times slower at least.
type peer struct {
	name string
	args []string
	must float64 // how many times slower, 0: only to be shown
}

// oneCore is which share of each goal one core must reach alone.
const oneCore = 0.55

// memory is what kasoku may take at most, in bytes: 64 MB and 16 KB a class, of
// which no log here has more than 60.
const memory = 64e6 + 60*16e3

func allWorks() []work {
	goaccess := peer{"goaccess", []string{"FILE", "--no-global-config",
		"--log-format=%h %^[%d:%t %^] \"%r\" %s %b \"%R\" \"%u\" %T",
		"--date-format=%d/%b/%Y", "--time-format=%T", "--no-progress", "-o", "DIR/goaccess.json"}, 55}
	groups := "^/api/isu/[^/]+/graph,^/api/isu/[^/]+/icon,^/api/isu/[^/]+$,^/api/condition/[^/]+,^/isu/[^/]+/condition,^/isu/[^/]+/graph,^/isu/[^/]+$,^/users/[0-9]+/posts/[0-9]+,^/items/[0-9]+,^/search,^/files/"
	return []work{
		{name: "combined + time, automatic routes", file: "combined.log", args: []string{"accesslog", "FILE"}, must: 1000,
			aim:   "1,500 MB/s",
			peers: []peer{goaccess, {"kataribe", []string{"-f", "TOML"}, 0}, {"rg", []string{"-c", `" 50[0-9] `, "FILE"}, 0}}},
		{name: "LTSV, same report", file: "ltsv.log", args: []string{"accesslog", "FILE"}, must: 800, aim: "1,500 MB/s",
			peers: []peer{{"alp", []string{"ltsv", "--file", "FILE", "-m", groups, "--limit", "1000000"}, 0}}},
		{name: "JSON, same report", file: "json.log", args: []string{"accesslog", "FILE"}, must: 700, aim: "1,500 MB/s",
			peers: []peer{{"alp", []string{"json", "--file", "FILE", "-m", groups, "--limit", "1000000"}, 0}}},
		{name: "14 regexp bundles (--as kataribe)", file: "combined.log", args: []string{"accesslog", "--as", "kataribe",
			"-f", "TOML"}, stdin: true,
			must: 230, aim: "500 MB/s", peers: []peer{{"kataribe", []string{"-f", "TOML"}, 0}}},
		{name: "slow log, full digest", file: "slow.log", args: []string{"slowlog", "FILE"}, aim: "250 × pt-query-digest",
			peers: []peer{{"pt-query-digest", []string{"FILE"}, 150}, {"mysqldumpslow", []string{"-s", "t", "-t", "20",
				"FILE"}, 30}}},
		{name: "slow log (--as pt-query-digest)", file: "slow.log", args: []string{"slowlog", "--as", "pt-query-digest",
			"FILE"}, aim: "250 × pt-query-digest",
			peers: []peer{{"pt-query-digest", []string{"FILE"}, 150}}},
	}
}

// A figure is what a program took: medians of time, the most of memory.
type figure struct {
	wall, cpu time.Duration
	rss       uint64
	err       error
}

// compareWorks measures all works and prints the table. met says whether all goals
// were met.
func compareWorks(ctx context.Context, o options, out io.Writer) (met bool, err error) {
	toml := filepath.Join(o.dir, "kataribe.toml")
	if err := os.WriteFile(toml, []byte(bundles), 0o600); err != nil {
		return false, err
	}
	c := comparison{ctx: ctx, o: o, known: map[string]figure{}, met: true}
	c.table = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(c.table, "work\tprogram\twall s\tCPU s\tMB/s\tpeak MB\tkasoku is\tgoal\tmet\t")
	for _, w := range allWorks() {
		if !strings.Contains(w.name, o.only) {
			continue
		}
		if err := c.work(w); err != nil {
			return false, err
		}
	}
	if err := c.table.Flush(); err != nil {
		return false, err
	}
	for _, m := range c.missing {
		fmt.Fprintf(out, "missing: %s; its goal counts as not met\n", m)
	}
	fmt.Fprintf(out, "median of %d runs, of peers %d; MB = 1,000,000 bytes; page cache warm\n", o.runs, o.peerRuns)
	return c.met, nil
}

type comparison struct {
	ctx     context.Context
	o       options
	table   *tabwriter.Writer
	known   map[string]figure // of peers, by their command line
	missing []string
	met     bool
}

func (c *comparison) work(w work) error {
	path := filepath.Join(c.o.dir, w.file)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := warmCache(path); err != nil {
		return err
	}
	mb := float64(info.Size()) / 1e6
	both := c.measure(c.o.kasoku, w.args, path, w.stdin, c.o.runs)
	if both.err != nil {
		return fmt.Errorf("%s: %w", w.name, both.err)
	}
	one := c.measure("taskset", append([]string{"-c", "0", c.o.kasoku}, w.args...), path, w.stdin, c.o.runs)
	if one.err != nil {
		return fmt.Errorf("%s on one core: %w", w.name, one.err)
	}
	row := func(name string, f figure, ratio, goal, met string) {
		fmt.Fprintf(c.table, "%s\t%s\t%.3f\t%.2f\t%.0f\t%.0f\t%s\t%s\t%s\t\n", w.name, name,
			f.wall.Seconds(), f.cpu.Seconds(), mb/f.wall.Seconds(), float64(f.rss)/1e6, ratio, goal, met)
	}
	speed := func(f figure, share float64) (goal, met string) {
		if w.must == 0 {
			return "aim " + w.aim, ""
		}
		return fmt.Sprintf("≥ %.0f MB/s, aim %s", w.must*share, w.aim), c.check(mb/f.wall.Seconds() >= w.must*share)
	}
	goal, met := speed(both, 1)
	row("kasoku", both, "", goal, met)
	goal, met = speed(one, oneCore)
	row("kasoku, one core", one, "", goal, met)
	most := max(both.rss, one.rss)
	fmt.Fprintf(c.table, "%s\tmemory\t\t\t\t%.0f\t\t≤ %.0f MB\t%s\t\n", w.name, float64(most)/1e6, memory/1e6,
		c.check(float64(most) <= memory))
	for _, p := range w.peers {
		f := c.peer(p, path)
		if f.err != nil {
			c.missing = append(c.missing, fmt.Sprintf("%s (%v)", p.name, f.err))
			c.met = c.met && p.must == 0
			continue
		}
		ratio := f.wall.Seconds() / both.wall.Seconds()
		goal, met := "", ""
		if p.must > 0 {
			alone := f.wall.Seconds() / one.wall.Seconds()
			goal = fmt.Sprintf("≥ %.0f ×, one core ≥ %.0f × (%.0f)", p.must, p.must*oneCore, alone)
			met = c.check(ratio >= p.must && alone >= p.must*oneCore)
		}
		row(p.name, f, fmt.Sprintf("%.0f × faster", ratio), goal, met)
	}
	return nil
}

// warmCache reads a file into the page cache.
func warmCache(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

func (c *comparison) check(ok bool) string {
	if ok {
		return "yes"
	}
	c.met = false
	return "NO"
}

// peer measures a peer, once for all works with the same command.
func (c *comparison) peer(p peer, path string) figure {
	key := p.name + path + strings.Join(p.args, " ")
	f, ok := c.known[key]
	if !ok {
		f = c.measure(p.name, p.args, path, !slices.Contains(p.args, "FILE"), c.o.peerRuns)
		c.known[key] = f
	}
	return f
}

func (c *comparison) measure(program string, args []string, path string, stdin bool, runs int) figure {
	args = slices.Clone(args)
	for i, a := range args {
		switch a {
		case "FILE":
			args[i] = path
		case "TOML":
			args[i] = filepath.Join(c.o.dir, "kataribe.toml")
		default:
			args[i] = strings.ReplaceAll(a, "DIR/", c.o.dir+"/")
		}
	}
	results := make([]command.Result, runs)
	for i := range results {
		r, err := c.once(program, args, path, stdin)
		if err != nil {
			return figure{err: err}
		}
		results[i] = r
	}
	middle := func(of func(command.Result) time.Duration) time.Duration {
		slices.SortFunc(results, func(a, b command.Result) int { return cmp.Compare(of(a), of(b)) })
		return of(results[len(results)/2])
	}
	f := figure{
		wall: middle(func(r command.Result) time.Duration { return r.Wall }),
		cpu:  middle(func(r command.Result) time.Duration { return r.User + r.System }),
	}
	for _, r := range results {
		f.rss = max(f.rss, r.MaxRSSBytes)
	}
	return f
}

func (c *comparison) once(program string, args []string, path string, stdin bool) (command.Result, error) {
	spec := command.Spec{Path: program, Args: args}
	if stdin {
		f, err := os.Open(path)
		if err != nil {
			return command.Result{}, err
		}
		defer f.Close()
		spec.Stdin = f
	}
	return command.Run(c.ctx, spec)
}

// bundles is a kataribe.toml with 14 groups.
const bundles = `ranking_count = 20
slow_count = 37
show_stddev = true
show_status_code = true
show_bytes = true
percentiles = [ 50.0, 90.0, 95.0, 99.0 ]
scale = 0
effective_digit = 3
log_format = '^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] "((?:\\"|[^"])*)" (\d+) (\d+|-) "((?:\\"|[^"])*)" "((?:\\"|[^"])*)" ([0-9.]+)$'
request_index = 5
status_index = 6
bytes_index = 7
duration_index = 10
[[bundle]]
regexp = '^POST /api/condition/[0-9a-f-]+'
name = 'POST /api/condition/:id'
[[bundle]]
regexp = '^GET /api/condition/[0-9a-f-]+'
name = 'GET /api/condition/:id'
[[bundle]]
regexp = '^GET /api/isu/[0-9a-f-]+/icon'
name = 'GET /api/isu/:id/icon'
[[bundle]]
regexp = '^GET /api/isu/[0-9a-f-]+/graph'
name = 'GET /api/isu/:id/graph'
[[bundle]]
regexp = '^GET /api/isu/[0-9a-f-]{36} '
name = 'GET /api/isu/:id'
[[bundle]]
regexp = '^GET /isu/[0-9a-f-]+/condition'
name = 'GET /isu/:id/condition'
[[bundle]]
regexp = '^GET /isu/[0-9a-f-]+/graph'
name = 'GET /isu/:id/graph'
[[bundle]]
regexp = '^GET /isu/[0-9a-f-]{36} '
name = 'GET /isu/:id'
[[bundle]]
regexp = '^GET /assets/'
name = 'GET /assets/*'
[[bundle]]
regexp = '^GET /users/[0-9]+/posts/[0-9]+'
name = 'GET /users/:n/posts/:n'
[[bundle]]
regexp = '^GET /items/[0-9]+'
name = 'GET /items/:n'
[[bundle]]
regexp = '^DELETE /items/[0-9]+/comments/[0-9]+'
name = 'DELETE /items/:n/comments/:n'
[[bundle]]
regexp = '^GET /search'
name = 'GET /search'
[[bundle]]
regexp = '^PUT /files/[0-9a-f]+'
name = 'PUT /files/:h'
`
