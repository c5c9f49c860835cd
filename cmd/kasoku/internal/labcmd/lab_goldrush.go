package labcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/play"
	"github.com/kasoku/kasoku/labs/goldrush/server"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/record"
)

const goldrushName = "goldrush"

// goldrushLab is the game whose client is tuned.
func goldrushLab() lab {
	var ids, variants []string
	for _, d := range digger.Defects() {
		ids = append(ids, d.ID)
	}
	for _, v := range digger.Variants() {
		variants = append(variants, v.Name)
	}
	return lab{
		name:    goldrushName,
		about:   "a game's server with limits and a CPU that all calls share; its client is tuned",
		defects: strings.Join(ids, ","), variants: strings.Join(variants, ","),
		check: (*labFlags).checkGoldrush, start: startGoldrush, serve: serveGoldrush, next: nextGoldrush,
		record: recordGoldrush,
	}
}

// mostRates is more than any host can send.
const mostRates = 1e4

// gameFlags are the knobs of the game's server.
type gameFlags struct {
	seed       int64
	lasts      time.Duration
	oneRequest bool
	fails      float64
	rates      float64
	cashCost   time.Duration
}

// publishedGame are the knobs as they are unless they are turned.
func publishedGame() gameFlags {
	r := goldrush.Published()
	return gameFlags{fails: r.IssueFails, rates: 1, cashCost: r.CashCost}
}

// register adds the knobs of a server, but for the seed.
func (g *gameFlags) register(f *pflag.FlagSet) {
	g.registerRules(f)
	f.DurationVar(&g.lasts, "lasts", 0, "goldrush: how long a game lasts from its first request; 0: until it is stopped")
	f.BoolVar(&g.oneRequest, "one-request", false, "goldrush: close each connection after a request")
}

// registerRules adds those of the game itself.
func (g *gameFlags) registerRules(f *pflag.FlagSet) {
	usual := publishedGame()
	f.Float64Var(&g.fails, "fails", usual.fails, "goldrush: share of licences for nothing that fail")
	f.Float64Var(&g.rates, "rates", usual.rates, "goldrush: times the published limits of requests; 0: no limits")
	f.DurationVar(&g.cashCost, "cash-cost", usual.cashCost, "goldrush: what cashing a treasure takes of the CPU")
}

// rules returns the published rules with what the knobs change.
func (g *gameFlags) rules() goldrush.Rules {
	r := goldrush.Published()
	r.IssueFails, r.CashCost = g.fails, g.cashCost
	for c := range r.PerSec {
		if r.PerSec[c] > 0 && g.rates > 0 { // 0 would be no limit
			r.PerSec[c] = max(int(float64(r.PerSec[c])*g.rates), 1)
		} else {
			r.PerSec[c] = 0
		}
	}
	return r
}

func (g *gameFlags) check() error {
	switch {
	case !(g.fails >= 0 && g.fails < 1): // NaN, too
		return cli.Usagef("", "--fails %g: want a share from 0 to less than 1", g.fails)
	case !(g.rates >= 0 && g.rates <= mostRates):
		return cli.Usagef("", "--rates %g: want 0 to %g", g.rates, mostRates)
	case g.lasts < 0 || g.cashCost < 0:
		return cli.Usagef("", "--lasts and --cash-cost: want 0 or more")
	case g.cashCost%mine.Tick != 0:
		return cli.Usagef("", "--cash-cost %s: want a multiple of %s", g.cashCost, mine.Tick)
	}
	return nil
}

// args are the knobs for the process that serves.
func (g *gameFlags) args() []string {
	return []string{"--seed", strconv.FormatInt(g.seed, 10), "--lasts", g.lasts.String(),
		"--one-request=" + strconv.FormatBool(g.oneRequest), "--fails", fmt.Sprint(g.fails),
		"--rates", fmt.Sprint(g.rates), "--cash-cost", g.cashCost.String()}
}

// checkGoldrush refuses what the game does not have.
func (o *labFlags) checkGoldrush() error {
	for _, name := range []string{"size", "data", "emit", "db", "http"} {
		if o.set[name] {
			return cli.Usagef("", "--%s: goldrush has no rows, no database and no nginx", name)
		}
	}
	_, err := o.client()
	return cmp.Or(err, o.game.check())
}

// A goldrushClient is how a client plays.
type goldrushClient struct {
	name   string
	params digger.Params
	http   play.HTTPOptions
	// collects is whether its garbage is collected as usual; firstByte is [play.Played]'s.
	collects, firstByte bool
}

// A goldrushControl is a change of how requests are sent.
type goldrushControl struct {
	id  string
	set func(*goldrushClient)
}

// goldrushApart are mistakes that do not show beside others: who sends one request at a time floods
// no one, digs with each licence once at a time, leaves the service time, and explores too seldom to see what
// that costs by size.
var goldrushApart = []string{"CLI-04", "CLI-05", "CLI-06", "CLI-13"}

// goldrushControls are changes of the client that the write-up's author was sure of, and that brought
// nothing: the client was not the limit.
var goldrushControls = []goldrushControl{
	{"CLI-07", func(c *goldrushClient) { c.collects = false }},
	{"CLI-08", func(c *goldrushClient) { c.http.ByHand = true }},
	{"CLI-09", func(c *goldrushClient) { c.http.Own = true }},
	{"CLI-10", func(c *goldrushClient) { c.http.OneRequest = true }},
	{"CLI-11", func(c *goldrushClient) { c.firstByte = true }},
}

// client reads variant and defects.
func (o *labFlags) client() (goldrushClient, error) {
	out := goldrushClient{name: "tuned", collects: true, http: play.HTTPOptions{OneRequest: o.game.oneRequest}}
	if o.set["variant"] {
		out.name = o.variant
	}
	v, err := digger.Named(out.name)
	if err != nil {
		return out, cli.Usagef("", "--variant: %w", err)
	}
	var mistakes []string
	for id := range strings.SplitSeq(o.defects, ",") {
		id = strings.ToUpper(strings.TrimSpace(id))
		control := slices.IndexFunc(goldrushControls, func(c goldrushControl) bool { return c.id == id })
		switch {
		case !o.set["defects"] || id == "" || id == "NONE":
			continue
		case id == "ALL":
			for _, d := range digger.Defects() {
				if !slices.Contains(goldrushApart, d.ID) {
					mistakes = append(mistakes, d.ID)
				}
			}
		case control >= 0:
			goldrushControls[control].set(&out)
		default:
			mistakes = append(mistakes, id)
		}
		out.name += " " + id
	}
	if out.params, err = v.Params.With(mistakes...); err != nil {
		return out, cli.Usagef("", "--defects: %w", err)
	}
	return out, nil
}

// onlyOfGoldrush refuses the knobs of the game where another lab is meant.
func (o *labFlags) onlyOfGoldrush(lab string) error {
	if lab == goldrushName {
		return nil
	}
	for _, name := range []string{"lasts", "one-request", "fails", "rates", "cash-cost"} {
		if o.set[name] {
			return cli.Usagef("", "--%s is for goldrush", name)
		}
	}
	return nil
}

func startGoldrush(ctx context.Context, o *labFlags) (labState, func(context.Context) error, error) {
	if o.set["variant"] || o.set["defects"] {
		return labState{}, nil, cli.Usagef("`kasoku lab client goldrush` takes them", "--variant and --defects are of the client")
	}
	s, err := upGoldrush(ctx, o)
	if err != nil {
		return labState{}, nil, err
	}
	return labState{AppPid: s.Pid(), URL: "http://" + s.Addr(), AppLog: filepath.Join(o.dir, "app.log"), Defects: "none"},
		func(context.Context) error { return s.Stop() }, nil
}

// upGoldrush starts the game's server.
func upGoldrush(ctx context.Context, o *labFlags) (*process.Service, error) {
	o.game.seed = int64(o.seed)
	s := process.New(process.Options{Dir: o.dir, Name: goldrushName, Program: o.self, Listen: o.listen,
		Log: filepath.Join(o.dir, "app.log")})
	return s, s.Start(ctx, append([]string{"lab", "serve", goldrushName}, o.game.args()...), nil)
}

func serveGoldrush(ctx context.Context, e *cli.Env, o *serveFlags) error {
	game := mine.Options{Rules: o.game.rules(), Seed: o.game.seed, Lasts: o.game.lasts}
	return server.Serve(ctx, server.Config{Listen: o.listen, Game: game,
		OneRequest: o.game.oneRequest, Log: e.Stderr, Result: e.Stderr, Ready: o.accepts})
}

func nextGoldrush(e *cli.Env, s *labState) string {
	return fmt.Sprintf("next  %s lab client goldrush -variant reference -duration 30s\n      curl %s/metrics\n", e.Name, s.URL)
}

// runVarsPort is where the client of a recorded run shows how it stands; see runWebPort.
const runVarsPort = 31090

// freeVars is an address for what the client shows: the usual one, so that runs have it alike, or
// one that is free.
func freeVars() (string, error) {
	for _, port := range []int{runVarsPort, 0} {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return l.Addr().String(), l.Close()
		} else if port == 0 {
			return "", fmt.Errorf("a port for what the client shows: %w", err)
		}
	}
	return "", nil
}

// recordGoldrush starts the game's server, lets the client play under a recording and stops it.
func recordGoldrush(ctx context.Context, o *labRecord) (res *record.Result, err error) {
	client, err := o.flags.client()
	if err != nil {
		return nil, err
	}
	s, err := upGoldrush(ctx, o.flags)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, s.Stop()) }()
	args := []string{o.flags.self, "lab", "client", goldrushName, "--target", "http://" + s.Addr(),
		"--duration", o.duration.String()}
	for _, flag := range []struct{ name, value string }{{"variant", o.flags.variant}, {"defects", o.flags.defects}} {
		if o.flags.set[flag.name] {
			args = append(args, "--"+flag.name, flag.value)
		}
	}
	lo := o.options
	lo.Run.Project, lo.Run.Note, lo.Run.Load = goldrushName, "client "+client.name, "goldrush's client for "+o.duration.String()
	g := &o.flags.game
	for _, knob := range []struct{ name, value string }{{"fails", fmt.Sprint(g.fails)}, {"rates", fmt.Sprint(g.rates)},
		{"cash-cost", g.cashCost.String()}, {"one-request", strconv.FormatBool(g.oneRequest)}} {
		if o.flags.set[knob.name] { // the client plays by the rules of its server, and a run under others is another load
			args = append(args, "--"+knob.name+"="+knob.value)
			lo.Run.Load += ", " + knob.name + " " + knob.value
		}
	}
	lo.Settings = append(slices.Clone(lo.Settings), kasoku.Setting{Scope: "app", Name: "client", Value: client.name})
	lo.PIDs = []int{s.Pid()}
	lo.Command, lo.Stdout, lo.Stderr = args, io.Discard, io.Discard
	where, err := freeVars()
	if err != nil {
		return nil, err
	}
	lo.Command, lo.Expvar = append(args, "--vars", where), []string{"http://" + where + "/debug/vars"}
	lo.MoreLogs = record.Logs{Error: []string{filepath.Join(o.flags.dir, "app.log")}}
	return record.Record(ctx, lo)
}
