package labcmd

import (
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
)

// autopilotFlags are those of kasoku autopilot.
type autopilotFlags struct {
	runs    labRunFlags // how a run of the lab is made
	name    string
	minutes float64
	minGain float64
	risk    string
	into    string
}

// NewAutopilot returns the command autopilot, which tunes a lab by itself.
func NewAutopilot(e *cli.Env) *cobra.Command {
	var f autopilotFlags
	cmd := &cobra.Command{
		Use:   "autopilot",
		Short: "Tune a lab without a programmer: run, change, run, keep or take back, again and again",
		Long: `Start a lab and repeat: a measured run; the best finding that proposes an index, a
variable of the database or directives of nginx; that change; another run. What gains
stays, all else is taken back. A change that gains less than runs differ is measured
once more. Indexes go into the SQL that initialize runs; nginx is reloaded with the
edited configuration when nginx -t accepts it.

Where kasoku.toml has [answers], those are asked for right before and after a change, and
one after which they differ is taken back without a run.

At the end comes a report: what was tried, what it did, what stays. --out keeps the
files: indexes.sql, my.cnf, nginx.conf and the story as JSON, Markdown and HTML.`,
		Example: `  kasoku autopilot --minutes 20 --lab isuumo --out tuned
  kasoku autopilot --minutes 4 --duration 15s --size small`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.runs.lab.given(cmd.Flags())
			return f.run(cmd.Context(), e)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.name, "lab", "isuumo", "`NAME` of the lab")
	fl.Float64Var(&f.minutes, "minutes", 20, "begin no further change that would end later")
	fl.Float64Var(&f.minGain, "min-gain", prove.DefaultMinGain, "keep a change that gains this part of the score, "+
		"0.05 for 5 %")
	fl.StringVar(&f.risk, "risk", string(kasoku.RiskNone), "greatest `RISK` that is taken: none, app-restart, "+
		"restart, durability, semantics")
	fl.StringVar(&f.into, "out", "", "keep the files that it ended with, and the story, in `DIRECTORY`")
	fl.DurationVar(&f.runs.duration, "duration", time.Minute, "of the load of a run")
	fl.StringVar(&f.runs.lab.variant, "variant", isuumo.Initial, "how far it is tuned at the start: initial, "+
		"indexes, tuned")
	fl.StringVar(&f.runs.lab.database, "db", "mariadb", "database: mariadb or mysql")
	f.runs.lab.registerRows(fl)
	fl.StringVar(&f.runs.out.Dir, "dir", cli.RunsDir, "`DIRECTORY` for the run files")
	fl.StringVarP(&f.runs.out.Format, "output", "o", "text", "`FORMAT` of the story: text, json, tsv or md")
	cli.CompleteFormats(cmd, "output")
	return cmd
}

// check refuses flags that make no sense, and returns the risks that are taken.
func (f *autopilotFlags) check() ([]kasoku.Risk, error) {
	f.runs.times = 1
	if _, err := labNamed(f.name); err != nil {
		return nil, err
	}
	risk := kasoku.Risk(strings.ReplaceAll(f.risk, "-", " "))
	at := slices.Index(settings.Risks(), risk)
	switch {
	case f.name != isuumoLab().name:
		return nil, cli.Usagef("--lab isuumo", "lab %q has no benchmark with a score", f.name)
	case f.minutes <= 0 || f.minutes > 24*60:
		return nil, cli.Usagef("", "--minutes %s: want more than 0", unit.Plain(f.minutes))
	case f.minGain <= 0 || f.minGain >= 1:
		return nil, cli.Usagef("0.05 is 5 %", "--min-gain %s: want more than 0 and less than 1", unit.Plain(f.minGain))
	case at < 0:
		return nil, cli.Usagef("none, app-restart, restart, durability or semantics", "--risk %q is no risk", f.risk)
	}
	return settings.Risks()[:at+1], f.runs.check()
}

func (f *autopilotFlags) run(parent context.Context, e *cli.Env) (err error) {
	risks, err := f.check()
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
	pilot := prove.Pilot{
		For: time.Duration(f.minutes * float64(time.Minute)), MinGain: f.minGain, Risks: risks,
		OnStep: func(n int, x *kasoku.Finding, _ []kasoku.Edit) {
			r.progress.Say(fmt.Sprintf("try %d  %s  %s", n, x.ID, x.Title))
		},
		OnRun: func(rec *kasoku.Recording, _ string) {
			r.progress.Say("        " + rec.Run.ID + "  " + strings.Join(cli.DescribeOutcome(rec), "  "))
		},
	}
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
		err = errors.Join(err, t.write(f.into, story, e))
	}
	p := cli.Printer{Doc: storyDocument(story), JSON: func(w io.Writer) error { return encode.JSON(w, newStoryJSON(story)) }}
	err = errors.Join(err, f.runs.out.Print(e, p))
	if ctx.Err() != nil {
		return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
	}
	return err
}

// write keeps the files and the story.
func (t *tuned) write(dir string, story *prove.Story, e *cli.Env) error {
	if err := private.Output.MkdirAll(dir); err != nil {
		return err
	}
	text, err := os.ReadFile(t.s.Nginx.ConfigFile)
	if err != nil {
		return err
	}
	files := map[string]string{"indexes.sql": "", "my.cnf": "[mysqld]\n", "nginx.conf": string(text)}
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
	doc := storyDocument(story)
	return errors.Join(
		cli.WriteFile(filepath.Join(dir, "story.json"), func(w io.Writer) error { return encode.JSON(w, newStoryJSON(story)) }),
		cli.WriteFile(filepath.Join(dir, "story.md"), func(w io.Writer) error { return encode.Markdown(w, doc) }),
		cli.WriteFile(filepath.Join(dir, "story.html"), func(w io.Writer) error { return html.Write(w, doc) }),
	)
}

// oneLine keeps a text from ending the comment that it stands in.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
