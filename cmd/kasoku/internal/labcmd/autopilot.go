package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/prove"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/terminal"
)

// autopilotFlags are those of kasoku autopilot.
type autopilotFlags struct {
	runs    labRunFlags // how a run of the lab is made
	name    string
	minutes float64
	minGain float64
	risk    string
	into    string
	least   int
	back    bool
}

// NewAutopilot returns the command autopilot, which tunes a service or a lab by itself.
func NewAutopilot(e *cli.Env) *cobra.Command {
	var f autopilotFlags
	cmd := &cobra.Command{
		Use:   "autopilot",
		Short: "Tune a service without a programmer: run, change, run, keep or take back, again and again",
		Long: `Repeat: measured runs, as kasoku.toml says; the best finding that proposes an index, a
variable of the database or directives of nginx; that change; runs with it. A change is
kept when the score gains --min-gain and each run with it scores more than each without,
of which one is made after them: the host may have become quiet. All else is taken back.

kasoku.toml says that this may be done, and how the service begins anew:

  [load]
  command = './bench.sh'            # any program that prints a score
  score.regexp = 'score: ([0-9.]+)'

  [safe]
  change = true

  [autopilot]
  reset = './reset.sh'              # before each run: the data as each is to find it
  restart = 'systemctl restart app' # after a variable was set or put back
  reload = 'nginx -t && systemctl reload nginx'

Directives are put into files of [capture] alone, and only where reload is said. Where it has
[answers], those are asked for right before and after a change, and one after which they
differ is taken back without a run.

What is in force is in a journal before it is: killed, the change that was not decided on is
taken back, that of nginx when autopilot is called again, which goes on where it was. What was
kept stays until --take-back. --out (default: autopilot, below the runs) has what it comes to:
indexes.sql, my.cnf, nginx.patch and the story as JSON, Markdown and HTML.

With --lab it starts a lab and tunes that: indexes go into the SQL that initialize runs.`,
		Example: `  kasoku autopilot --minutes 20
  kasoku autopilot --take-back
  kasoku autopilot --lab isuumo --minutes 20 --out tuned`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.name == "" {
				return f.tuneService(cmd.Context(), e, cmd.Flags())
			}
			f.runs.lab.given(cmd.Flags())
			return f.run(cmd.Context(), e)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.name, "lab", "", "tune the lab `NAME` (isuumo) in place of the service")
	fl.IntVar(&f.least, "least", 0, "so many runs a side before a change is kept; 0: 2, of a lab 1")
	fl.BoolVar(&f.back, "take-back", false, "take back all that autopilots changed here, and end")
	fl.Float64Var(&f.minutes, "minutes", 20, "begin no further change that would end later")
	fl.Float64Var(&f.minGain, "min-gain", prove.DefaultMinGain, "keep a change that gains this part of the score, "+
		"0.05 for 5 %")
	fl.StringVar(&f.risk, "risk", string(kasoku.RiskNone), "greatest `RISK` that is taken: none, app-restart, "+
		"restart, durability, semantics")
	fl.StringVar(&f.into, "out", "", "keep the files that it ended with, and the story, in `DIRECTORY`")
	fl.DurationVar(&f.runs.duration, "duration", time.Minute, "of the load of a run of a lab")
	fl.StringVar(&f.runs.lab.variant, "variant", isuumo.Initial, "how far a lab is tuned at the start: initial, "+
		"indexes, tuned")
	fl.StringVar(&f.runs.lab.database, "db", "mariadb", "database of a lab: mariadb or mysql")
	f.runs.lab.registerRows(fl)
	fl.StringVar(&f.runs.out.Dir, "dir", cli.RunsDir, "`DIRECTORY` for the run files of a lab")
	cli.RegisterFormats(cmd, &f.runs.out.Format, cli.Formats)
	return cmd
}

// checkLab refuses flags that make no sense with a lab, and returns the risks that are taken.
func (f *autopilotFlags) checkLab() ([]kasoku.Risk, error) {
	f.runs.times = 1
	if _, err := labNamed(f.name); err != nil {
		return nil, err
	}
	if f.name != isuumoLab().name {
		return nil, cli.Usagef("--lab isuumo", "lab %q has no benchmark with a score", f.name)
	}
	if f.back {
		return nil, cli.Usagef("", "--take-back is of a service: a lab ends with the program")
	}
	risks, err := f.check()
	return risks, cmp.Or(err, f.runs.check())
}

// check refuses flags that make no sense, and returns the risks that are taken.
func (f *autopilotFlags) check() ([]kasoku.Risk, error) {
	risk := kasoku.Risk(strings.ReplaceAll(f.risk, "-", " "))
	at := slices.Index(settings.Risks(), risk)
	switch {
	case f.minutes <= 0 || f.minutes > 24*60:
		return nil, cli.Usagef("", "--minutes %s: want more than 0", unit.Plain(f.minutes))
	case f.minGain <= 0 || f.minGain >= 1:
		return nil, cli.Usagef("0.05 is 5 %", "--min-gain %s: want more than 0 and less than 1", unit.Plain(f.minGain))
	case f.least < 0 || f.least > 100:
		return nil, cli.Usagef("", "--least %d: want 1 or more", f.least)
	case at < 0:
		return nil, cli.Usagef("none, app-restart, restart, durability or semantics", "--risk %q is no risk", f.risk)
	}
	return settings.Risks()[:at+1], nil
}

func (f *autopilotFlags) run(parent context.Context, e *cli.Env) (err error) {
	risks, err := f.checkLab()
	if err != nil {
		return err
	}
	held, err := cli.HeldAnswers()
	if err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	r := &labRuns{e: e, f: &f.runs, hard: hard, progress: e.Progress()}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	free, err := r.lock(f.name)
	if err != nil {
		return err
	}
	defer free()
	if r.data, err = f.runs.lab.read(); err != nil {
		return err
	}
	t, err := startTuned(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.down(context.WithoutCancel(ctx))) }()
	pilot := f.pilot(risks, r.progress)
	if held != nil {
		defer held.Asker.Close()
		pilot.Answers = held
	}
	story, err := prove.Autopilot(ctx, t, pilot)
	r.progress.Clear()
	if story.Start == nil {
		return err
	}
	if f.into != "" {
		err = errors.Join(err, t.write(f.into, story))
	}
	p := cli.Printer{Doc: storyDocument(story), JSON: func(w io.Writer) error { return encode.JSON(w, newAutopilot(story)) }}
	err = errors.Join(err, f.runs.out.Print(e, p))
	if ctx.Err() != nil {
		return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
	}
	return err
}

// pilot is what the flags say, and says what it does.
func (f *autopilotFlags) pilot(risks []kasoku.Risk, p *terminal.Progress) prove.Pilot {
	return prove.Pilot{
		For: time.Duration(f.minutes * float64(time.Minute)), MinGain: f.minGain, Least: f.least, Risks: risks,
		OnStep: func(n int, x *kasoku.Finding, _ []kasoku.Edit) {
			p.Say(fmt.Sprintf("try %d  %s  %s", n, x.ID, x.Title))
		},
		OnRun: func(rec *kasoku.Recording, _ string) {
			p.Say("        " + rec.Run.ID + "  " + strings.Join(cli.DescribeOutcome(rec), "  "))
		},
	}
}

// write keeps the files and the story.
func (t *tuned) write(dir string, story *prove.Story) error {
	text, err := os.ReadFile(t.s.Nginx.ConfigFile)
	if err != nil {
		return err
	}
	return writeTuning(dir, story, map[string]string{"nginx.conf": string(text)})
}

// writeTuning keeps what is kept of a story as files, beside those that are given, and the story.
func writeTuning(dir string, story *prove.Story, files map[string]string, notes ...string) error {
	if err := private.Output.MkdirAll(dir); err != nil {
		return err
	}
	files["indexes.sql"], files["my.cnf"] = "", "[mysqld]\n"
	for i := range story.Steps {
		if s := &story.Steps[i]; s.Outcome == prove.Kept {
			for _, edit := range s.Edits {
				switch edit.Kind {
				case kasoku.EditIndex:
					files["indexes.sql"] += fmt.Sprintf("-- %s: %s\n%s;\n", s.Finding.ID, oneLine(s.Finding.Title), strings.TrimSuffix(strings.TrimSpace(edit.Do), ";"))
				case kasoku.EditVariable:
					files["my.cnf"] += fmt.Sprintf("# %s: %s\n%s\n", s.Finding.ID, oneLine(s.Finding.Title), edit.Conf)
				}
			}
		}
	}
	for name, text := range files {
		if err := private.Output.WriteFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	doc := storyDocument(story, notes...)
	return errors.Join(
		cli.WriteFile(filepath.Join(dir, "story.json"), func(w io.Writer) error { return encode.JSON(w, newAutopilot(story)) }),
		cli.WriteFile(filepath.Join(dir, "story.md"), func(w io.Writer) error { return encode.Markdown(w, doc) }),
		cli.WriteFile(filepath.Join(dir, "story.html"), func(w io.Writer) error { return html.Write(w, doc) }),
	)
}

// oneLine keeps a text from ending the comment that it stands in.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
