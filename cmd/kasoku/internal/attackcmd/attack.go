package attackcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/report/terminal"
)

// NewAttack returns the command attack, which loads HTTP targets with Vegeta's flags and files.
func NewAttack(e *cli.Env) *cobra.Command {
	f := &attackFlags{vegeta: vegeta.DefaultAttack()}
	cmd := &cobra.Command{
		Use:         "attack [URL...]",
		Short:       "Load HTTP targets with Vegeta's flags and files, or a carbon with points",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `Send requests when they are due, whether or not earlier ones were answered, and
count latency from the moment a request was due. Loads the URLs that it is given, for
10 s unless -duration says how long, with curl's -X, -H and -d; or takes --target, or
reads Vegeta's targets from standard input. Writes Vegeta's results to standard output,
which ` + "`kasoku report`" + ` and vegeta read. On a terminal, and with -o, it prints a
report instead.

-rate takes a ladder, too: 10,100,1000, each step as long as -duration. --stages has
ramps and pauses. Requests may come evenly, at random or in bursts, or from users in
a closed loop. Targets may have weights and places such as {{uuid}}.

--from gen1,gen2,gen3 has hosts of a fleet send it, each its share of one schedule that
begins at one moment; see ` + "`kasoku hub`" + `.

--carbon HOST:PORT loads a carbon-cache, go-carbon or relay instead: -metrics series, a
point of each every --interval, by lines, pickled lists or datagrams; -as haggar takes
haggar's flags and sends its lines. It reports what was due, sent, acknowledged and
outstanding each second, and what the server counts of itself where it answers.

Flags have one dash or two. Vegeta's -cpus N, -profile cpu,heap and -version stand
before the command.`,
		Example: `  kasoku attack http://127.0.0.1:8080/
  kasoku attack -X POST -H 'Content-Type: application/json' -d '{"name": "a"}' -rate 200 http://127.0.0.1:8080/users
  echo 'GET http://127.0.0.1:8080/' | kasoku attack -rate 100 -duration 5s | kasoku report
  kasoku attack -targets targets.txt -rate 1000/1s -duration 10s -output results.gob -o text
  kasoku attack -target 'POST http://127.0.0.1:8080/users' -rate 10,100,1000 -duration 10s --pause 3s
  kasoku attack -target 'GET http://127.0.0.1:8080/users/{{int 1 100}}' --stages 30s@0..500,1m@500 --arrivals poisson
  kasoku attack -target 'GET http://127.0.0.1:8080/' -rate 0 -max-workers 64 --think 100ms..300ms -duration 30s
  kasoku attack --from gen1,gen2,gen3 -rate 60000 -duration 30s http://10.0.0.5/
  kasoku attack --carbon 127.0.0.1:2003 --metrics 100000 --interval 10s -duration 5m
  kasoku attack --carbon 127.0.0.1:2004 --protocol pickle --metrics 1000000 --ramp 1m --new-series 0.01
  kasoku attack --as haggar -agents=300 -metrics=2000 -carbon=localhost:2003`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := givenFlags(cmd)
			if f.asksCarbon() {
				if err := f.carbon.check(given, args); err != nil {
					return err
				}
				return f.runCarbon(cmd.Context(), e)
			}
			if err := f.carbon.checkHTTP(given); err != nil {
				return err
			}
			if err := f.request.check(args); err != nil {
				return err
			}
			return runAttack(cmd.Context(), e, f)
		},
	}
	f.register(cmd)
	return cmd
}

// givenFlags are the names of the flags that were given.
func givenFlags(cmd *cobra.Command) (names []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func runAttack(parent context.Context, e *cli.Env, f *attackFlags) (err error) {
	if err := f.complete(e); err != nil {
		return err
	}
	o := &f.vegeta
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	o.Engine.HTTP.Hard = hard
	exporter := vegeta.NewExporter()
	scraped, err := f.serve(exporter)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scraped.Close()) }()
	recording := e.Getenv(handover.Env)
	printed := f.printsReport(e, isStdoutRecorded(e))
	if printed && o.Output == "" {
		o.Stdout = nil
	}
	live := &liveAttack{e: e, handover: recording, progress: e.Progress(), random: o.Spacing == load.Poisson,
		dial: o.Engine.HTTP.Dial}
	if f.set("html") || f.out.Format == "html" {
		live.charts = &chartSeconds{}
	}
	planned := e.EndSoon(ctx) // targets may come from a FIFO
	o.Watch = func(r *vegeta.Running) load.Sink {
		planned()
		live.begin(ctx, r)
		if scraped == nil {
			return nil
		}
		exporter.Begin(r.Plan)
		return exporter
	}
	res, err := f.attack(ctx, e, live.say)
	planned()
	live.end(res.Summary, res.Warnings)
	if res.Tally == nil || cli.IsRefused(err) {
		return f.refusal(err)
	}
	if printed {
		err = errors.Join(err, f.print(e, &res, live.charts.taken()))
	} else {
		e.Warn(res.Warnings)
	}
	awaitLastScrape(e, ctx, scraped)
	switch {
	case err != nil:
		return err
	case res.Summary.Stopped != "":
		return cli.Stopped("stopped before the end: " + res.Summary.Stopped)
	case res.Tally.Asked > 0 && res.Tally.Answered == 0:
		return cli.BadError(explainUnanswered(hard, o.Engine.HTTP, res.Plan.Targets, res.Tally))
	}
	steps := res.Plan.Schedule.Steps()
	if len(steps) < 2 { // at one rate less than all may be what was to be seen
		steps = nil
	}
	return cli.JudgeLoad(steps, res.Recorder.Tally)
}

// printsReport reports whether the result is printed: on a terminal, where it was asked
// for with -o, and to a recording, which shows what the command prints. Elsewhere
// stdout gets each single result, as Vegeta's does.
func (f *attackFlags) printsReport(e *cli.Env, recorded bool) bool {
	return f.set("output-format") || f.set("html") || f.vegeta.Output == "" && recorded || e.StdoutTTY
}

// isStdoutRecorded reports whether a recording reads stdout: not so after a pipe or in
// a file of the recorded command's own.
func isStdoutRecorded(e *cli.Env) bool {
	f, ok := terminal.Raw(e.Stdout).(*os.File)
	id := e.Getenv(handover.OutputEnv)
	return ok && id != "" && command.FileID(f) == id
}

// refusal is how an attack ends that did not begin.
func (f *attackFlags) refusal(err error) error {
	if cli.IsForbidden(err) && f.unread != nil {
		return cli.Usage(fmt.Errorf("%w; it may be allowed in a file that cannot "+
			"be read: %w", err, f.unread), cli.HintOf(err))
	}
	switch {
	case err == nil:
		return nil
	case coordinate.IsRefused(err):
		return cli.Usage(err, cli.HintOf(err))
	case len(f.from.hosts) > 0 && strings.Contains(err.Error(), fleet.Absent):
		return cli.WithHint(err, "`kasoku hub status` lists the hosts, and says which of them answer")
	case strings.Contains(err.Error(), "bad target"):
		return cli.WithHint(err, "each target begins with a line METHOD URL, such as GET http://127.0.0.1/; headers, and "+
			"@FILE for the body, stand in the lines after it")
	case errors.Is(err, fs.ErrNotExist) && f.set("targets"):
		return cli.WithHint(err, "-targets names a file of lines such as GET http://127.0.0.1/; a URL alone needs none: "+
			"kasoku attack URL")
	}
	return cli.UsageIf(cli.IsRefused(err), err)
}

// explainUnanswered reports why no request was answered: the server cannot be reached, or what
// listens there does not answer.
func explainUnanswered(ctx context.Context, o nethttp.Options, targets []load.Target, t *kasoku.Tally) error {
	e, err := nethttp.New(o)
	if err == nil {
		err = e.Reach(ctx, targets)
	}
	if err != nil {
		return fmt.Errorf("no request was answered: %w", err)
	}
	none := errors.New("no request was answered: " + firstError(t))
	if len(targets) == 0 { // of a stream, and gone
		return none
	}
	switch text := none.Error(); {
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return cli.WithHint(none, "it speaks HTTP without TLS: the URL begins with http://")
	case strings.Contains(text, "x509: "):
		return cli.WithHint(none, "-root-certs FILE names who signed the certificate; -insecure takes any")
	}
	return cli.WithHint(none, fmt.Sprintf("something listens there; `curl -v %s` shows "+
		"what it says", load.WithoutPassword(targets[0].URL)))
}

func firstError(t *kasoku.Tally) string {
	if top := t.TopErrors(); len(top) > 0 {
		return top[0].Message
	}
	return "no error was reported"
}
