package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/demo"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/story"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/spf13/cobra"
)

// NewDemo returns the command demo, which breaks, diagnoses and mends a sample service.
func NewDemo(e *cli.Env) *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole story on a sample service: break, diagnose, fix, prove",
		Long: `Start a private MariaDB and the lab userapi with its defects, climb a ladder of
request rates until it breaks, name the causes, try each fix alone, apply all,
climb again and compare. Takes about four minutes. Load goes to loopback only.
Other programs should rest meanwhile: what they use spoils the proof.

Exit code 0 only when the fix is proven; 1 when it is not; 3 when nothing broke
on this machine or the story was stopped.`,
		Example: "  kasoku demo\n  kasoku demo --dir /tmp/demo --db mysql",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := knownDatabase(o.Database); err != nil {
				return err
			}
			return runDemo(cmd, e, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "demo", "`DIRECTORY` for the run files, the report and the summary")
	f.StringVar(&o.Database, "db", "mariadb", "database: mariadb or mysql")
	f.DurationVar(&o.Each, "step", 10*time.Second, "length of a step")
	f.DurationVar(&o.Pause, "pause", time.Second, "between steps")
	f.Float64SliceVar(&o.Ladder, "ladder", []float64{10, 100, 1000},
		"asked `RATES`, requests/s; doubled from the last until one breaks")
	f.Float64Var(&o.Most, "most", 16_000, "highest `RATE` that is tried")
	return cmd
}

func runDemo(cmd *cobra.Command, e *cli.Env, o demo.Options) (err error) {
	ctx, hard, stop := cli.Interruptible(cmd.Context())
	defer stop()
	if o.Program, err = os.Executable(); err != nil {
		return err
	}
	work, err := private.MakeTempDir("", "kasoku-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	o.Work = work.Path
	o.Version, o.Hard = cli.VersionString(), hard
	crowd := crowded()
	if hint := crowdHint(crowd); hint != "" {
		e.HintOnce([]string{hint})
	}
	story := &storyPrinter{e: e, dir: o.Dir, progress: e.Progress()}
	o.Story = story
	res, err := demo.Run(ctx, o)
	story.progress.Clear()
	if reportErr := writeDemoReport(o.Dir, e, res); reportErr != nil {
		err = errors.Join(err, reportErr)
	}
	story.farewell(res)
	switch {
	case ctx.Err() != nil:
		return cli.Stopped(fmt.Sprintf("stopped by %s; what was measured is kept in %s", context.Cause(ctx), o.Dir))
	case errors.Is(err, demo.ErrNotReproducible):
		return cli.Stopped(err.Error())
	case err != nil:
		return err
	case !res.Summary.Proven():
		hint := cmp.Or(crowdHint(max(crowd, crowded())), "other programs that were busy meanwhile spoil it, too: try once more on a quiet host")
		return cli.BadHint(strings.Join(res.Summary.Failures, "; "), hint)
	}
	return nil
}

// watchedFor is how long the other programs of the host are watched.
const watchedFor = time.Second

// crowded returns which part of the host's CPU others use now; 0 when it cannot be read. Nothing of the demo runs.
func crowded() float64 {
	before, err := procstat.ReadHost()
	if err != nil || before.Cores == 0 {
		return 0
	}
	<-time.After(watchedFor)
	after, err := procstat.ReadHost()
	if err != nil {
		return 0
	}
	return after.CoresSince(before) / float64(before.Cores)
}

// tooCrowded is the part of the CPU from which on the figures of the demo are others', too.
const tooCrowded = 0.25

// crowdHint says that a busy host may spoil the proof; empty when it is quiet.
func crowdHint(part float64) string {
	if part < tooCrowded {
		return ""
	}
	return "other programs use " + unit.Percent(part) + " of this host's CPU, so that steps may break for them and a fix seem to be " +
		"worth nothing: what the demo proves it proves on a quiet host"
}

func writeDemoReport(dir string, e *cli.Env, res demo.Result) error {
	if res.Before == nil {
		return nil
	}
	doc := story.New(storyOf(res), e.ReportOptions(""))
	return cli.WriteFile(filepath.Join(dir, "report.html"), func(w io.Writer) error { return html.Write(w, doc) })
}

// storyOf words the story for the report.
func storyOf(res demo.Result) story.Story {
	st := story.Story{Before: res.Before, After: res.After, Comparison: res.Comparison}
	for _, t := range res.Tries {
		st.Tries = append(st.Tries, story.Try{Change: t.What, Finding: t.ID, Control: t.Control, Effect: t.Effect})
	}
	return st
}

// storyPrinter prints the story as it happens: results to stdout, progress to stderr.
type storyPrinter struct {
	e        *cli.Env
	dir      string
	mu       sync.Mutex // one line at a time
	progress *terminal.Progress
}

// print writes a part of a report between lines of progress.
func (t *storyPrinter) print(doc *report.Document, brief bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress.Clear()
	o := t.e.Terminal()
	o.Brief = brief
	terminal.Write(t.e.Stdout, doc, o) //nolint:errcheck // a closed stdout ends the story at its next step
}

func (t *storyPrinter) Chapter(n, of int, title string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress.Clear()
	fmt.Fprintf(t.e.Stdout, "\n%s\n\n", terminal.Bold(fmt.Sprintf("%d/%d  %s", n, of, title), t.e.Terminal()))
}

func (t *storyPrinter) Progress(p record.Progress) { cli.ShowProgress(t.progress, p, 0) }

// Run prints the steps; the verdict comes with the diagnosis.
func (t *storyPrinter) Run(rec *kasoku.Recording) {
	doc := t.e.ShowRun(rec, "", report.SectionSteps).Doc
	doc.Verdict, doc.Commands = "", nil
	t.print(doc, true)
}

// Diagnosis prints the findings; what limits them was said with the steps.
func (t *storyPrinter) Diagnosis(rec *kasoku.Recording) {
	doc := t.e.ShowRun(rec, "", report.SectionFindings).Doc
	doc.Head, doc.Alerts, doc.Commands = nil, nil, nil
	t.print(doc, false)
}

func (t *storyPrinter) Try(try demo.Try) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress.Clear()
	fmt.Fprintf(t.e.Stdout, "  %-7s  %-9s  %s\n           %9s  %s\n", try.ID, try.Effect.Verdict, try.What, "",
		try.Effect.Why)
}

// Comparison prints what moved and what became of the findings; the report has
// the rest.
func (t *storyPrinter) Comparison(c *compare.Comparison) {
	o := t.e.ReportOptions("")
	o.Sections = []string{report.SectionMoved, report.SectionFindings}
	doc := comparison.Compare(c, o)
	doc.Commands = nil
	t.print(doc, false)
}

// farewell describes where everything is and what to do next.
func (t *storyPrinter) farewell(res demo.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if res.Before == nil {
		return
	}
	if sum := res.Summary; sum.Proven() {
		fmt.Fprintf(t.e.Stdout, "\n%s\n", terminal.Bold(fmt.Sprintf(
			"Proven: at %s/s success %s → %s and p99 %s → %s ms; all %d seeded causes were found; rows in the table "+
				"equal the 200s of both runs.",
			unit.Count(uint64(sum.BrokenPerSec)), unit.Percent(sum.Before.Success), unit.Percent(sum.After.Success),
			unit.Sig3(sum.Before.P99), unit.Sig3(sum.After.P99), sum.Seeded), t.e.Terminal()))
	}
	fmt.Fprintf(t.e.Stdout, "\nsaved   %s\nreport  %s\n", strings.Join(res.Summary.Files, " "),
		filepath.Join(t.dir, "report.html"))
	fmt.Fprintf(t.e.Stdout, "next    %s show %s\n", t.e.Name, filepath.Join(t.dir, "before.kasoku"))
	if res.After != nil {
		fmt.Fprintf(t.e.Stdout, "        %s compare %s %s\n", t.e.Name, filepath.Join(t.dir, "before.kasoku"),
			filepath.Join(t.dir, "after.kasoku"))
	}
	fmt.Fprintf(t.e.Stdout, "        %s serve --dir %s\n", t.e.Name, t.dir)
}
