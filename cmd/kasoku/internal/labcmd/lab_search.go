package labcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/labs/goldrush/search"
)

// searchFlags are the flags of lab search.
type searchFlags struct {
	lab      labFlags // of which variant and the game's knobs alone
	duration time.Duration
	games    int
	format   string
}

func newLabSearch(e *cli.Env) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:         "search NAME",
		Short:       "Search for the way to play a lab's game that earns most",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `Change one parameter of goldrush's client after the other, play each value in the same few worlds
in simulated time, and keep what earns most, until a round changes nothing. What was found is
then played in as many other worlds, beside what it began with.`,
		Example: `  kasoku lab search goldrush
  kasoku lab search goldrush -variant author -n 3 -duration 20s`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.lab.given(cmd.Flags())
			return f.run(cmd.Context(), e, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.lab.variant, "variant", "tuned", "where it begins: "+goldrushLab().variants)
	fl.DurationVar(&f.duration, "duration", time.Minute, "of a game, in its own time")
	fl.IntVarP(&f.games, "games", "n", 5, "worlds in which each value is played")
	fl.Uint64Var(&f.lab.seed, "seed", 1, "of the first world; the others follow")
	f.lab.game.registerRules(fl)
	cli.RegisterFormats(cmd, &f.format, []string{"text", "json"})
	return cmd
}

func (f *searchFlags) run(parent context.Context, e *cli.Env, name string) error {
	if err := f.check(name); err != nil {
		return err
	}
	client, err := f.lab.client()
	if err != nil {
		return err
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	progress := e.Progress()
	var tries []searchTry
	found, err := search.Search(ctx, search.Options{
		Rules: f.lab.game.rules(), From: client.params, Lasts: f.duration, Seed: int64(f.lab.seed), Games: f.games,
		OnTry: func(t search.Try) {
			tries = append(tries, searchTry{t.Round, t.Knob, t.Value, tenths(t.PerSec), t.Best})
			progress.Work(fmt.Sprintf("round %d", t.Round), 0, fmt.Sprintf("%s %s: %.1f", t.Knob, t.Value, t.PerSec))
		},
	})
	progress.Clear()
	if errors.Is(err, context.Cause(ctx)) && err != nil {
		if err := f.print(e, tries, found); err != nil {
			return err
		}
		return cli.Stopped("stopped before the end: " + err.Error())
	}
	if err != nil {
		return err
	}
	return f.print(e, tries, found)
}

func (f *searchFlags) check(name string) error {
	l, err := labNamed(name)
	switch {
	case err != nil:
		return err
	case l.name != goldrushName:
		return cli.Usagef("goldrush is one", "lab %q is not a game", name)
	case f.games < 1:
		return cli.Usagef("", "-n %d: want 1 or more", f.games)
	case f.format != "text" && f.format != "json":
		return cli.Usagef("", "-o %q: want text, json", f.format)
	}
	if err := checkLoadTime(f.duration); err != nil {
		return err
	}
	return f.lab.game.check()
}

// searchTry is one value in the JSON of lab search.
type searchTry struct {
	Round  int     `json:"round"`
	Knob   string  `json:"parameter"`
	Value  string  `json:"value"`
	PerSec float64 `json:"coins_per_s"`
	Best   bool    `json:"best"`
}

func (f *searchFlags) print(e *cli.Env, tries []searchTry, found search.Found) error {
	if f.format == "json" {
		return json.NewEncoder(e.Stdout).Encode(struct {
			Tries  []searchTry `json:"tries"`
			Params any         `json:"parameters"`
			PerSec float64     `json:"coins_per_s"`
			Others float64     `json:"coins_per_s_other_worlds"`
			Before float64     `json:"coins_per_s_before"`
		}{tries, found.Params, tenths(found.PerSec), tenths(found.Others), tenths(found.Before)})
	}
	for _, t := range tries {
		mark := ""
		if t.Best {
			mark = "  best"
		}
		fmt.Fprintf(e.Stdout, "%d  %-18s  %8s  %7.1f%s\n", t.Round, t.Knob, t.Value, t.PerSec, mark)
	}
	if found.Others == 0 {
		fmt.Fprintf(e.Stdout, "\n%.1f coins a second in these worlds, so far\n%+v\n", found.PerSec, found.Params)
		return nil
	}
	fmt.Fprintf(e.Stdout, "\n%.1f coins a second in these worlds, %.1f in others, in which it began with %.1f\n%+v\n",
		found.PerSec, found.Others, found.Before, found.Params)
	return nil
}
