package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/provecmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/recordcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/prove"
	"github.com/kasoku/kasoku/prove/live"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/encode"
)

// serviceLeast is how many runs a side a change of a service is judged by.
const serviceLeast = 2

// tuneService tunes the service of the kasoku.toml here or above.
func (f *autopilotFlags) tuneService(parent context.Context, e *cli.Env, flags *pflag.FlagSet) (err error) {
	for _, name := range []string{"data", "db", "dir", "duration", "seed", "size", "variant"} {
		if flags.Changed(name) {
			return cli.Usagef("--lab isuumo", "--%s is of a lab", name)
		}
	}
	risks, err := f.check()
	if err != nil {
		return err
	}
	if err := f.runs.out.Check(); err != nil {
		return err
	}
	c, err := serviceConfig()
	if err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	s, err := openService(ctx, hard, e, c)
	if errors.Is(err, live.ErrBusy) {
		return cli.Usage(err, "wait until it has ended")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if f.back {
		return takeBack(ctx, e, s)
	}
	return f.fly(ctx, e, c, s, risks)
}

// serviceConfig reads a kasoku.toml that says that the service may be changed, and how it is
// measured.
func serviceConfig() (*config.Config, error) {
	c, err := cli.ReadConfig("")
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, cli.Usagef("`kasoku init` writes one; --lab isuumo tunes a lab", "no %s here or above", config.Name)
	case !c.Safe.Change:
		return nil, cli.Usagef("change = true in [safe]", "%s does not say that its service may be changed", c.Path)
	case c.Load.Kind() != config.Command:
		return nil, cli.Usagef("command in [load], and score.json or score.regexp where its score is not known by itself",
			"%s names no benchmark that prints a score, by which a change could be judged", c.Path)
	}
	return c, nil
}

// openService takes the service over.
func openService(ctx, hard context.Context, e *cli.Env, c *config.Config) (*live.Service, error) {
	dsn, err := e.Noted(record.DSN(c.MySQL))
	if err != nil {
		return nil, err
	}
	dsn = cmp.Or(dsn, c.Service.MySQL)
	var files []string
	for _, pattern := range c.Capture.Files {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("capture.files: %w", err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	states := map[string][]*kasoku.Recording{} // runs that repeat one another, by label
	return live.Open(ctx, live.Options{
		Journal: filepath.Join(c.Runs, "autopilot.json"), DSN: dsn, Files: slices.Compact(files), Dir: c.Dir,
		Reset: c.Pilot.Reset, Restart: c.Pilot.Restart, Reload: c.Pilot.Reload,
		Guard: func() (guard.Options, func(bool), error) { return provecmd.OpenJournal(e, dsn, c.MySQL.DefaultsFile) },
		Record: func(ctx context.Context, label, base string) (*kasoku.Recording, error) {
			rec, err := recordcmd.Once(ctx, e, c, hard, label, base, states[label])
			if rec != nil {
				states[label] = append(states[label], rec)
			}
			return rec, err
		},
	})
}

// takeBack takes back all that was changed.
func takeBack(ctx context.Context, e *cli.Env, s *live.Service) error {
	n, err := s.TakeBack(ctx)
	for _, note := range s.Notes {
		e.Caution(note, "")
	}
	if n > 0 || err == nil {
		fmt.Fprintf(e.Stdout, "%s taken back\n", unit.Counted(n, "change", "changes"))
	}
	return err
}

// fly makes the story, and keeps and prints it.
func (f *autopilotFlags) fly(ctx context.Context, e *cli.Env, c *config.Config, s *live.Service, risks []kasoku.Risk) error {
	progress := e.Progress()
	pilot := f.pilot(risks, progress)
	pilot.Least, pilot.Confirm, pilot.Earlier = cmp.Or(f.least, serviceLeast), true, s.Earlier()
	var missing []string
	if pilot.Kinds, missing = s.Kinds(); len(pilot.Kinds) == 0 {
		return cli.Usagef("", "nothing can be changed: %s", missing[0])
	}
	held, err := cli.HeldAnswers()
	if err != nil {
		return err
	}
	if held != nil {
		defer held.Asker.Close()
		pilot.Answers = held
	} else {
		missing = append(missing, "answers: [answers] of kasoku.toml names none, so what the service answers was not compared; "+
			"`file = 'answers.json'` there compares what `kasoku answers record` kept")
	}
	story, err := prove.Autopilot(ctx, s, pilot)
	progress.Clear()
	if story.Start == nil {
		return err
	}
	notes := slices.Clone(s.Notes)
	for _, m := range missing {
		notes = append(notes, "left out: "+m)
	}
	into, files := cmp.Or(f.into, filepath.Join(c.Runs, "autopilot")), map[string]string{}
	if patch := s.Patch(); patch != "" {
		files["nginx.patch"] = patch
	}
	err = errors.Join(err, writeTuning(into, story, files, notes...))
	p := cli.Printer{Doc: storyDocument(story, notes...), JSON: func(w io.Writer) error { return encode.JSON(w, newAutopilot(story)) }}
	err = errors.Join(err, f.runs.out.Print(e, p))
	switch {
	case ctx.Err() != nil:
		return cli.Stopped("stopped before the end, and what was not decided on was taken back: " + context.Cause(ctx).Error())
	case err != nil:
		return err
	case len(story.Edits()) > 0:
		fmt.Fprintf(e.Stderr, "kept in %s; kasoku autopilot --take-back takes it back\n", into)
	case len(story.Steps) == 0 && story.First == 0:
		return cli.Bad(story.Stopped)
	}
	return nil
}
