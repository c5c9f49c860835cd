package provecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/prove/answers"
	"github.com/kasoku/kasoku/report/encode"
)

// DefaultGolden is the file of golden answers where kasoku.toml names none.
const DefaultGolden = "answers.json"

// answersFlags are those of kasoku answers record and check.
type answersFlags struct {
	cli.Output
	file      string
	targets   string
	accesslog string
	base      string
	perRoute  int
	headers   []string
	allow     []string
	asker     answers.Asker
}

// NewAnswers returns the command answers, which keeps golden answers and compares with them.
func NewAnswers(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answers",
		Short: "Keep what a service answers, and say what it answers otherwise later",
		Long: `Keep golden answers of a service before a change, and say after it what it answers
otherwise: status, types, values, the order of lists, elements that are lost.

Only GET and HEAD are sent. Each request is asked twice and again with others under way;
what differs between these asks is volatile and left out, by its path.`,
		Example: `  kasoku answers record http://127.0.0.1:8080/api/items 'HEAD http://127.0.0.1:8080/'
  kasoku answers record --accesslog /var/log/nginx/access.log --url http://127.0.0.1:8080
  kasoku answers check`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAnswersRecord(e), newAnswersCheck(e))
	return cmd
}

func newAnswersRecord(e *cli.Env) *cobra.Command {
	var f answersFlags
	cmd := &cobra.Command{
		Use:   "record [REQUEST]...",
		Short: "Ask for answers and keep them",
		Long: `Ask for answers and keep them, for kasoku answers check. A REQUEST is a URL or
'METHOD URL'; without one, those of --targets or --accesslog, else of [answers] in
kasoku.toml. The file is for its owner alone; headers that may hold secrets are not in it.`,
		Example: `  kasoku answers record http://127.0.0.1:8080/api/items
  kasoku answers record --targets targets.txt --header "Cookie: $COOKIE"
  kasoku answers record --accesslog access.log --url http://127.0.0.1:8080`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.record(cmd.Context(), e, args) },
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.targets, "targets", "", "`FILE` of requests, in Vegeta's format")
	fl.StringVar(&f.accesslog, "accesslog", "", "access `LOG`: of each route some URIs that were answered well")
	fl.StringVar(&f.base, "url", "", "`URL` before the paths of --accesslog: http://127.0.0.1:8080")
	fl.IntVar(&f.perRoute, "per-route", answers.DefaultPerRoute, "different URIs of a route of --accesslog")
	return cmd
}

func newAnswersCheck(e *cli.Env) *cobra.Command {
	var f answersFlags
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Ask again and say what is answered otherwise",
		Long: `Ask for the golden answers again, alone and with others under way, and say what
differs, one line a difference. Exit code 0: all is the same; 1: something differs; 3: the
service could not be asked to the end.`,
		Example: `  kasoku answers check
  kasoku answers check before.json -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.file = args[0]
			}
			return f.check(cmd.Context(), e)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *answersFlags) register(cmd *cobra.Command) {
	cli.RegisterFormats(cmd, &f.Format, cli.Formats)
	fl := cmd.Flags()
	fl.StringVar(&f.file, "file", "", "`FILE` of golden answers; default that of kasoku.toml, else "+DefaultGolden)
	fl.StringArrayVar(&f.headers, "header", nil, "send `'NAME: VALUE'` with each request; it is not kept")
	fl.StringArrayVar(&f.allow, "allow", nil, "also ask this `HOST`, beyond this one and private networks")
	fl.DurationVar(&f.asker.Timeout, "timeout", answers.DefaultTimeout, "of a request")
	fl.IntVar(&f.asker.InFlight, "at-once", answers.DefaultInFlight, "requests at once, when asked under concurrency")
}

// prepare reads kasoku.toml and what the flags mean with it.
func (f *answersFlags) prepare(e *cli.Env) (*config.Config, func(), error) {
	if err := f.Check(); err != nil {
		return nil, nil, err
	}
	if f.asker.Timeout <= 0 || f.asker.InFlight < 1 || f.asker.InFlight > 1000 {
		return nil, nil, cli.Usagef("", "--timeout must be positive, and --at-once 1 to 1000")
	}
	c, err := cli.ReadConfig("")
	if err != nil {
		return nil, nil, err
	}
	if c == nil {
		c = &config.Config{}
	}
	f.file = cmp.Or(f.file, c.Answers.File, DefaultGolden)
	f.asker.Permit = load.Permit{Hosts: append(slices.Clone(f.allow), c.Load.Allow...)}
	f.asker.Header = http.Header{}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, nil, cli.Usagef("such as --header 'Cookie: session=1'", "--header %q: want NAME: VALUE", h)
		}
		f.asker.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	progress := e.Progress()
	f.asker.Progress = func(what string, done, all int) {
		progress.Work("ask", float64(done)/float64(max(all, 1)), what)
	}
	return c, progress.Clear, nil
}

func (f *answersFlags) record(parent context.Context, e *cli.Env, args []string) error {
	c, clearLine, err := f.prepare(e)
	if err != nil {
		return err
	}
	requests, left, err := f.requests(c, args)
	if err != nil {
		return err
	}
	if len(requests) == 0 {
		why := "name URLs, --targets FILE or --accesslog LOG --url BASE, or requests in [answers] of kasoku.toml"
		if len(left) > 0 {
			why = left[0].Request.String() + ": " + left[0].Why
		}
		return cli.Usagef(why, "what to ask is not said")
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	defer f.asker.Close()
	out, askErr := f.asker.Record(ctx, requests)
	clearLine()
	if out == nil {
		return cli.Usage(askErr, "")
	}
	out.Left = append(left, out.Left...)
	if len(out.Golden.Answers) > 0 {
		if err := private.State.Replace(f.file, out.Golden.Write); err != nil {
			return fmt.Errorf("keep the answers: %w", err)
		}
	}
	printErr := f.Print(e, cli.Printer{Doc: recordedDocument(out, f.file, len(requests)),
		JSON: func(w io.Writer) error { return encode.JSON(w, newAnswersRecorded(out, f.file)) }})
	if askErr == nil && len(out.Golden.Answers) == 0 {
		askErr = errors.New("no answer could be kept")
	}
	return errors.Join(endOfAsking(ctx, askErr), printErr)
}

func (f *answersFlags) check(parent context.Context, e *cli.Env) error {
	_, clearLine, err := f.prepare(e)
	if err != nil {
		return err
	}
	golden, err := cli.ReadGolden(f.file)
	if err != nil {
		return cli.Usage(err, "`kasoku answers record` makes it")
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	defer f.asker.Close()
	out, askErr := f.asker.Check(ctx, golden)
	clearLine()
	if out == nil {
		return askErr
	}
	printErr := f.Print(e, cli.Printer{Doc: checkedDocument(out, f.file),
		JSON: func(w io.Writer) error { return encode.JSON(w, newAnswersChecked(out, f.file)) }})
	switch {
	case askErr != nil:
		return errors.Join(endOfAsking(ctx, askErr), printErr)
	case len(out.Differences) > 0:
		return errors.Join(cli.Bad(checkedVerdict(out)), printErr)
	}
	return printErr
}

// endOfAsking words why not all was asked.
func endOfAsking(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case cli.IsForbidden(err):
		return cli.Usage(err, cli.HintOf(err))
	case ctx.Err() != nil:
		return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
	}
	return err
}

// mostLines is how many lines of an access log are read for requests.
const mostLines = 1_000_000

// requests finds what is to be asked: of the arguments, --targets, --accesslog, else of
// kasoku.toml.
func (f *answersFlags) requests(c *config.Config, args []string) (out []answers.Request, left []answers.LeftOut, err error) {
	if len(args) == 0 && f.targets == "" && f.accesslog == "" {
		args = c.Answers.Requests
	}
	for _, s := range args {
		r, err := answers.ParseRequest(s)
		if err != nil {
			return nil, nil, cli.Usage(err, "such as 'GET http://127.0.0.1:8080/'")
		}
		out = append(out, r)
	}
	if f.targets != "" {
		file, err := os.Open(f.targets)
		if err != nil {
			return nil, nil, cli.Usage(err, "")
		}
		defer file.Close()
		targets, err := vegeta.ReadTargets(file, vegeta.TargetOptions{Name: f.targets, Dir: filepath.Dir(f.targets), NoVariables: true})
		if err != nil {
			return nil, nil, cli.Usage(err, "")
		}
		more, not := answers.FromTargets(targets)
		out, left = append(out, more...), not
	}
	if f.accesslog == "" {
		return out, left, nil
	}
	if u, err := url.Parse(f.base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, cli.Usagef("--url http://127.0.0.1:8080", "--url %q: where the paths of the log are asked is "+
			"not known", f.base)
	}
	w, err := lines.Open([]lines.Input{{Path: f.accesslog}}, 0)
	if err != nil {
		return nil, nil, cli.Usage(err, "")
	}
	defer w.Close()
	more, err := answers.ReadAccessLog(w, f.base, max(f.perRoute, 1), mostLines)
	return append(out, more...), left, err
}

// counted is "30 answers".
func counted(n int) string { return unit.Counted(n, "answer", "answers") }
