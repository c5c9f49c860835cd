package showcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/store/merge"
)

// NewMerge returns the command merge, which makes one run of recordings of several hosts.
func NewMerge(e *cli.Env) *cobra.Command {
	var (
		out     cli.Output
		o       merge.Options
		path    string
		offsets []string
	)
	cmd := &cobra.Command{
		Use:   "merge RECORDING RECORDING…",
		Short: "Make one run of recordings of several hosts",
		Long: `Make one run of recordings that were made on several hosts at the same time with
kasoku record. How far their clocks are apart is found from the traffic that they
both counted, else from what their kernels say of their clocks; it is shown with
its error and how it was found.

The clock of the merged run is that of the recording that made the load, else of
the one that ran a command, else of the first.`,
		Example: `  kasoku merge app1.kasoku db.kasoku --out both.kasoku
  kasoku merge app1.kasoku db.kasoku --offset db=+120ms --note 'index on orders.user_id'`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckFormat("-o", out.Format); err != nil {
				return err
			}
			var err error
			if o.Offsets, err = parseOffsets(offsets); err != nil {
				return err
			}
			var rec *kasoku.Recording
			if err := e.WhileReading(cmd.Context(), func(context.Context) (err error) { rec, err = mergeRuns(e, out.Dir, args, o); return err }); err != nil {
				return err
			}
			if path, err = cli.PlaceRun(&rec.Run, path, cli.RunsDir, rec.Run.Started); err != nil {
				return err
			}
			if err := store.Write(path, rec); err != nil {
				return errors.Join(err, removeLeft(path))
			}
			if out.Format == "text" {
				printClocks(e, rec, path)
			}
			return out.Print(e, e.ShowRun(rec, path))
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&path, "out", "", "run `FILE`; default runs/TIME-LABEL.kasoku")
	fl.StringArrayVar(&offsets, "offset", nil, "`HOST=DURATION`: that host's clock minus the reference's, where "+
		"you know it")
	fl.StringVar(&o.Label, "label", "", "short `NAME` of the merged run")
	fl.StringVar(&o.Note, "note", "", "what was changed")
	out.RegisterMade(cmd, &path)
	out.RegisterDir(cmd)
	return cmd
}

// mergeRuns reads the recordings, puts them together and looks at the whole.
func mergeRuns(e *cli.Env, dir string, names []string, o merge.Options) (*kasoku.Recording, error) {
	var recs []*kasoku.Recording
	seen := map[string]string{}
	for _, name := range names {
		rec, path, err := cli.OpenRun(e, dir, name)
		if err != nil {
			return nil, err
		}
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		if other, twice := seen[path]; twice {
			return nil, cli.Usagef("", "%s and %s are one recording", other, name)
		}
		seen[path] = name
		recs = append(recs, rec)
	}
	rec, err := merge.Merge(recs, o)
	if err != nil {
		return nil, cli.Usage(err, cli.HintOf(err))
	}
	cli.Rediagnose(rec, nil)
	rec.Summary = diagnose.Summarise(rec)
	return rec, nil
}

// parseOffsets reads HOST=DURATION, the sign of a duration being free.
func parseOffsets(values []string) (map[string]time.Duration, error) {
	out := map[string]time.Duration{}
	for _, v := range values {
		host, text, ok := strings.Cut(v, "=")
		d, err := time.ParseDuration(text)
		if !ok || host == "" || (err != nil && text != "0") {
			return nil, cli.Usagef("such as --offset db=+120ms", "--offset %q: want HOST=DURATION", v)
		}
		out[host] = d
	}
	return out, nil
}

// printClocks prints how the hosts' clocks were brought together.
func printClocks(e *cli.Env, rec *kasoku.Recording, path string) {
	e.SayLine("%s: %s hosts on one clock", path, unit.Count(len(rec.Run.Hosts)))
	width := 0
	for _, h := range rec.Run.Hosts {
		width = max(width, len(h.Name))
	}
	for i, h := range rec.Run.Hosts {
		clock := "the run's clock"
		if i > 0 {
			clock = fmt.Sprintf("%s ahead, %s", signedDuration(h.ClockOffset), h.ClockNote)
			if h.ClockError > 0 {
				clock = fmt.Sprintf("%s ± %s ahead: %s", signedDuration(h.ClockOffset), h.ClockError.Round(time.Millisecond), h.ClockNote)
			}
		}
		e.SayLine("  %-*s  %s", width, h.Name, clock)
	}
	fmt.Fprintln(e.Stdout)
}

func signedDuration(d time.Duration) string {
	if d < 0 {
		return "−" + (-d).String()
	}
	return "+" + d.String()
}

// removeLeft removes what a failed write left.
func removeLeft(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
