package labcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/play"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/report/terminal"
)

// clientFlags are the flags of lab client.
type clientFlags struct {
	lab       labFlags // of which variant, defects and the game's knobs alone
	target    string
	duration  time.Duration
	simulated bool
	vars      string // host:port where it shows how it stands
	allow     []string
}

func newLabClient(e *cli.Env) *cobra.Command {
	var f clientFlags
	cmd := &cobra.Command{
		Use:         "client NAME",
		Short:       "Play a lab's game, by HTTP or in simulated time",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `Let the client of goldrush play: against the server at --target, the one that ` + "`kasoku lab up`" + `
started, or with --simulated against a game without a server and without a clock, in which a
minute takes a part of a second and a seed comes out the same each time.

It prints the result as JSON, beginning with pass, score and messages as ISUCON's benchmarks
do. The score is the coins that are held at the end.`,
		Example: `  kasoku lab client goldrush -variant reference
  kasoku lab client goldrush -variant tuned -defects CLI-02 -duration 20s
  kasoku lab client goldrush -variant author --simulated -seed 42
  kasoku lab client goldrush --target http://127.0.0.1:8000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.lab.given(cmd.Flags())
			return f.run(cmd.Context(), e, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.target, "target", "", "`URL` of the server; default the lab that runs")
	fl.StringVar(&f.lab.variant, "variant", "tuned", "how it plays: "+goldrushLab().variants)
	fl.StringVar(&f.lab.defects, "defects", "none", "its mistakes: `IDS` with commas, or none")
	fl.DurationVar(&f.duration, "duration", time.Minute, "of the game")
	fl.BoolVar(&f.simulated, "simulated", false, "play in simulated time, without a server")
	fl.Uint64Var(&f.lab.seed, "seed", 0, "with --simulated: of the world; 0 draws one")
	fl.StringVar(&f.vars, "vars", "", "show how the client stands at /debug/vars of `ADDRESS`, for kasoku record --expvar")
	fl.StringSliceVar(&f.allow, "allow", nil, "consent to load `HOST`, which is neither loopback nor private; may "+
		"be repeated")
	f.lab.game.registerRules(fl)
	fl.BoolVar(&f.lab.game.oneRequest, "one-request", false, "make a connection for each request")
	return cmd
}

func (f *clientFlags) run(parent context.Context, e *cli.Env, name string) error {
	if err := f.check(name); err != nil {
		return err
	}
	client, err := f.lab.client()
	if err != nil {
		return err
	}
	if f.simulated {
		r := play.Simulate(play.Simulated{Game: mine.Options{Rules: f.lab.game.rules(), Seed: int64(f.lab.seed)}, Params: client.params,
			Lasts: f.duration})
		return printGame(e, r)
	}
	if f.target == "" {
		s, ok := runningLab(e, name)
		if !ok {
			return notRunning(name)
		}
		f.target = s.URL
	}
	if err := checkTarget(f.target, f.duration); err != nil {
		return err
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	if err := mayLoad(ctx, load.Permit{Hosts: f.allow}, f.target); err != nil {
		return err
	}
	vars, err := f.serveVars(ctx)
	if err != nil {
		return err
	}
	defer vars.close()
	h, err := play.NewHTTP(f.target, client.http)
	if err != nil {
		return err
	}
	defer h.Close()
	if begun, _ := h.CPU(ctx); begun != [goldrush.Calls]time.Duration{} {
		return cli.Usagef("`kasoku lab down goldrush` and `kasoku lab up goldrush` begin another",
			"a game was played at %s: what it dug is gone, and its licences count", f.target)
	}
	if !client.collects { // as the write-up's author tried; a bound is kept
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostUncollected))
	}
	progress := e.Progress()
	r := play.Run(ctx, play.Played{Asker: h, Rules: f.lab.game.rules(), Params: client.params, Lasts: f.duration,
		FirstByte: client.firstByte, Vars: vars.vars,
		Sink: handover.ScenarioSink(e.Getenv(handover.Env), func(err error) {
			progress.Say("kasoku: warning: the recording does not get the client's figures: " + terminal.Clean(err.Error()))
		}),
		OnSecond: func(s play.Second) {
			progress.Work(name, s.At.Seconds()/f.duration.Seconds(), unit.Count(int64(s.Counts.Coins()))+" coins")
		}})
	progress.Clear()
	if err := printGame(e, r); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
	}
	if r.Counts.All() == r.Counts.Of(0) {
		return cli.Bad("no answer came from " + f.target)
	}
	return nil
}

// mostUncollected is the memory from which on garbage is collected all the same.
const mostUncollected = 1 << 30

// A varsServer shows how a client stands while it plays.
type varsServer struct {
	vars  *play.Vars // nil: no one is shown it
	close func()
}

func (f *clientFlags) serveVars(ctx context.Context) (varsServer, error) {
	if f.vars == "" {
		return varsServer{close: func() {}}, nil
	}
	ln, err := net.Listen("tcp", f.vars)
	if err != nil {
		return varsServer{}, cli.Usagef("name an address of this host that is free", "--vars %s: %w", f.vars, err)
	}
	vars := play.NewVars()
	mux := http.NewServeMux()
	mux.Handle("GET /debug/vars", vars)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ctx, end := context.WithCancel(ctx)
	var serves sync.WaitGroup
	serves.Go(func() { _ = process.Serve(ctx, srv, ln) }) // who reads it says what is missing
	return varsServer{vars, func() { end(); serves.Wait() }}, nil
}

func (f *clientFlags) check(name string) error {
	l, err := labNamed(name)
	switch {
	case err != nil:
		return err
	case l.name != goldrushName:
		return cli.Usagef("`kasoku lab run "+name+"` loads it", "lab %q is not a game", name)
	case f.simulated && f.target != "":
		return cli.Usagef("", "--simulated plays without a server: leave out --target")
	case f.simulated && f.vars != "":
		return cli.Usagef("", "--simulated is over at once: leave out --vars")
	case f.lab.set["seed"] && !f.simulated:
		return cli.Usagef("`kasoku lab up goldrush -seed` gives the server one", "--seed is of a game with --simulated")
	}
	if err := checkLoadTime(f.duration); err != nil {
		return err
	}
	return f.lab.game.check()
}

// gameResult is what lab client prints.
type gameResult struct {
	Pass     bool     `json:"pass"`
	Score    int      `json:"score"` // coins that are held
	Messages []string `json:"messages"`

	PerSec   float64                     `json:"coins_per_s"`
	Lasted   float64                     `json:"lasted_s"`
	Spent    int                         `json:"coins_spent"`
	InFlight float64                     `json:"in_flight_mean"`
	CPU      float64                     `json:"cpu_ratio"`     // of the virtual CPU
	Starved  float64                     `json:"starved_ratio"` // of the time: columns wait for a licence
	Refused  int64                       `json:"refused"`       // 403, 409, 422, 429
	Answers  map[string]map[string]int64 `json:"answers"`       // by call and status
}

func printGame(e *cli.Env, r *play.Result) error {
	c := &r.Counts
	out := gameResult{Pass: true, Score: r.Coins(), Messages: []string{}, Lasted: r.Lasted.Seconds(), Spent: c.Spent,
		PerSec: tenths(r.PerSec()), CPU: thousandths(r.Busy()), Starved: thousandths(c.Starved.Seconds() / r.Lasted.Seconds()),
		InFlight: thousandths(c.MeanInFlight(r.Lasted)), Refused: c.Refused(), Answers: map[string]map[string]int64{}}
	for call := range goldrush.Calls {
		for status, n := range c.Answers[call] {
			by := out.Answers[call.String()]
			if by == nil {
				by = map[string]int64{}
				out.Answers[call.String()] = by
			}
			by[fmt.Sprint(status)] = n
		}
	}
	if lost := c.Of(0); lost > 0 {
		out.Messages = append(out.Messages, unit.Counted(lost, "request was", "requests were")+" not answered")
		out.Pass = lost < c.All()
	}
	if err := json.NewEncoder(e.Stdout).Encode(out); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

func tenths(v float64) float64      { return math.Round(v*10) / 10 }
func thousandths(v float64) float64 { return math.Round(v*1000) / 1000 }
