package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// output is how an answer is printed, the same for every command that has one.
type output struct {
	format  string
	html    string
	dir     string
	formats []string // that the command has; nil: those of most

	limit     int // of rows, 0 all
	limitFlag *pflag.Flag
}

func (o *output) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "text", "`FORMAT`: text, json, tsv or md")
	completeFormats(cmd, "output")
	o.registerHTML(cmd)
	o.registerDir(cmd)
}

// registerLog serves commands that read logs: they also print the page, and one
// table for spreadsheets.
func (o *output) registerLog(cmd *cobra.Command) {
	o.formats = logFormats
	cmd.Flags().StringVarP(&o.format, "output", "o", "table", "`FORMAT`: table, tsv, csv, md, json or html")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(logFormats, cobra.ShellCompDirectiveNoFileComp))
	o.registerHTML(cmd)
}

// shownRows is how many rows of a log people are shown when they do not say.
const shownRows = 20

// registerLimit serves commands with a table of rows that can be long.
func (o *output) registerLimit(cmd *cobra.Command, rows string) {
	cmd.Flags().IntVarP(&o.limit, "limit", "n", shownRows, "show `N` "+rows+", 0 all; default 20 in table and md, else all")
	o.limitFlag = cmd.Flags().Lookup("limit")
}

// rows is how many of them a format has, 0 all: programs get all unless --limit is
// given.
func (o *output) rows(format string) int {
	if format == "table" || format == "md" || o.limitFlag.Changed {
		return o.limit
	}
	return 0
}

// machine reports whether the format is one table, for programs.
func (o *output) machine() bool { return o.format == "tsv" || o.format == "csv" }

// registerFormat serves commands whose -o names a run file.
func (o *output) registerFormat(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.format, "format", "text", "of the result: text, json, tsv or md")
	completeFormats(cmd, "format")
	o.registerHTML(cmd)
}

// registerReport serves commands whose --output is a file of something else.
func (o *output) registerReport(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output-format", "o", "text", "print the report, as `FORMAT`: text, json, tsv or md")
	completeFormats(cmd, "output-format")
	o.registerHTML(cmd)
}

func (o *output) registerHTML(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.html, "html", "", "also write the report as one HTML file to `FILE`")
}

// completeFormats lets shells complete the values of a flag for the format.
func completeFormats(cmd *cobra.Command, flag string) {
	// It fails only for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

func (o *output) registerDir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.dir, "dir", "", "`DIRECTORY` of run files; default runs, and the working directory")
}

// formats are the values of -o.
var formats = []string{"text", "json", "tsv", "md"}

// logFormats are those of commands that read logs.
var logFormats = []string{"table", "tsv", "csv", "md", "json", "html"}

func (o *output) check() error {
	if o.formats == nil {
		return checkFormat("-o", o.format)
	}
	if !slices.Contains(o.formats, o.format) {
		return usagef("", "-o %q: want %s", o.format, strings.Join(o.formats, ", "))
	}
	if o.limit < 0 {
		return usagef("", "--limit %d: want 0 or more", o.limit)
	}
	return nil
}

// checkFormat refuses a format that is none.
func checkFormat(flag, format string) error {
	if !slices.Contains(formats, format) {
		return usagef("", "%s %q: want %s", flag, format, strings.Join(formats, ", "))
	}
	return nil
}

// printer is what a command has to say, in all its forms.
type printer struct {
	doc   *report.Document
	page  *report.Document // of --html; nil: doc
	json  func(io.Writer) error
	brief bool // on a terminal: in few lines
}

// print writes the answer in the format asked for.
func (o *output) print(e *env, p printer) error {
	if o.html != "" {
		page := cmp.Or(p.page, p.doc)
		if err := writeFile(o.html, func(w io.Writer) error { return html.Write(w, page) }); err != nil {
			return fmt.Errorf("write HTML report: %w", err)
		}
	}
	switch o.format {
	case "json":
		return p.json(e.stdout)
	case "tsv":
		return encode.TSV(e.stdout, p.doc)
	case "csv":
		return encode.CSV(e.stdout, p.doc)
	case "html":
		return html.Write(e.stdout, p.doc)
	case "md":
		return encode.Markdown(e.stdout, p.doc)
	}
	t := e.terminal()
	t.Brief = p.brief
	return terminal.Write(e.stdout, p.doc, t)
}

// reportOptions are those of every report that this program makes.
func (e *env) reportOptions(path string) report.Options {
	return report.Options{Made: e.now(), File: path}
}

// showRun is a run as show prints it; sections limit it.
func (e *env) showRun(rec *kasoku.Recording, path string, sections ...string) printer {
	o := e.reportOptions(path)
	o.Sections = sections
	return printer{
		doc:  report.Show(rec, o),
		json: func(w io.Writer) error { return encode.RunJSON(w, rec, o) },
	}
}

func (e *env) terminal() terminal.Options {
	return terminal.Options{Width: e.columns(), Color: e.colored(), ASCII: e.ascii}
}

// writeFile writes a file that has its name only when all of it is written.
func writeFile(path string, write func(io.Writer) error) error {
	return private.Output.Replace(path, write)
}

// openRun resolves a name and reads the run. Damage is a warning, not an end.
func openRun(e *env, dir, name string) (*kasoku.Recording, string, error) {
	path, err := findRun(dir, name)
	if err != nil {
		return nil, "", err
	}
	rec, err := store.Open(path)
	if err != nil {
		return nil, "", err
	}
	for _, d := range rec.Damage {
		fmt.Fprintf(e.stderr, "kasoku: warning: %s: %s\n", path, d)
	}
	return rec, path, nil
}

// openNamed reads the run that the arguments name, the latest when they do not.
func openNamed(e *env, dir string, args []string) (*kasoku.Recording, string, error) {
	name := store.Latest
	if len(args) > 0 {
		name = args[0]
	}
	return openRun(e, dir, name)
}

// findRun looks in the named directory, else in runs/ and the working one. The
// latest run is the newest of both.
func findRun(dir, name string) (string, error) {
	var found string
	var missing error
	for _, d := range runDirs(dir) {
		path, err := store.Resolve(d, name)
		switch {
		case err == nil && name != store.Latest:
			return path, nil
		case err == nil:
			if found == "" || store.Describe(path).Started.After(store.Describe(found).Started) {
				found = path
			}
		case !errors.Is(err, store.ErrNotFound):
			return "", err
		case missing == nil || helps(err) > helps(missing):
			missing = err
		}
	}
	if found != "" {
		return found, nil
	}
	return "", asUsage(missing, hintOf(missing))
}

// helps ranks what a directory says of a name that it has not: one that knows a
// like name before one that has runs at all.
func helps(err error) int {
	hint := hintOf(err)
	switch {
	case strings.HasPrefix(hint, "did you mean"):
		return 2
	case strings.HasPrefix(hint, "there are no runs"):
		return 0
	}
	return 1
}

// rediagnose lets today's rules look at the recording.
func rediagnose(rec *kasoku.Recording, baseline *kasoku.Recording) {
	rec.Diagnosis = diagnose.Diagnose(diagnose.NewCase(rec, baseline), rules.All())
}

func newShow(e *env) *cobra.Command {
	var o output
	var texts textFlags
	var profiles profileFlags
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a run: findings, timeline, endpoints, queries, plans, advice, messages",
		Long:  "Show a run. RUN is a file, an id, a label or latest (the default).",
		Example: `  kasoku show
  kasoku show before --html report.html
  kasoku show before --configs
  kasoku show before --config /etc/nginx/nginx.conf
  kasoku show before --profile cpu > cpu.pb.gz
  kasoku show demo/before.kasoku -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.whileReading(cmd.Context(), func(context.Context) error {
				if err := o.check(); err != nil {
					return err
				}
				if err := profiles.check(); err != nil {
					return err
				}
				rec, path, err := openNamed(e, o.dir, args)
				if err != nil {
					return err
				}
				if profiles.asked() {
					return profiles.write(e, rec)
				}
				if texts.asked() || rec.Run.Load == store.Checkpoint {
					return texts.show(e, &o, rec, path)
				}
				if rec.Diagnosis == nil {
					rediagnose(rec, nil)
				}
				return o.print(e, e.showRun(rec, path))
			})
		},
	}
	o.register(cmd)
	texts.register(cmd.Flags())
	profiles.register(cmd)
	return cmd
}
