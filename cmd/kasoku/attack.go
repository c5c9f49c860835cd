package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/loop"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/unit"
)

// attackFlags are the flags of attack that are not Vegeta's options as they are.
type attackFlags struct {
	vegeta    vegeta.AttackOptions
	rate      string
	inline    []string
	keepalive bool
	http2     bool
	encoding  string
	workers   uint64
	lazy      bool
}

func newAttack(e *env) *cobra.Command {
	f := &attackFlags{vegeta: vegeta.DefaultAttack()}
	cmd := &cobra.Command{
		Use:         "attack",
		Short:       "Load HTTP targets, open loop, with Vegeta's flags and files",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `Send requests at a constant rate, whether or not earlier ones were answered, and
count latency from the moment a request was due. Reads Vegeta's targets from
standard input, or takes --target; writes Vegeta's results to standard output,
which ` + "`kasoku report`" + ` and vegeta read. On a terminal it prints the report instead.

-rate also takes a ladder, such as 10,100,1000: each step lasts -duration.`,
		Example: `  echo 'GET http://127.0.0.1:8080/' | kasoku attack -rate 100 -duration 5s | kasoku report
  kasoku attack -targets targets.txt -rate 1000/1s -duration 10s -output results.gob
  kasoku attack -target 'POST http://127.0.0.1:8080/users' -rate 10,100,1000 -duration 10s --pause 3s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return attack(cmd.Context(), e, f) },
	}
	f.register(cmd)
	return cmd
}

func (f *attackFlags) register(cmd *cobra.Command) {
	o, h, fl := &f.vegeta, &f.vegeta.HTTP, cmd.Flags()
	fl.StringVar(&f.rate, "rate", "50/1s", "`RATE` N, N/unit or N/duration; 0 or infinity: as fast as -max-workers let; several with commas: a ladder")
	fl.DurationVar(&o.Duration, "duration", 0, "of the attack, or of each step; 0: until stopped")
	fl.DurationVar(&o.Pause, "pause", 0, "between the steps of a ladder")
	fl.StringVar(&o.Targets, "targets", "stdin", "targets `FILE`")
	fl.StringArrayVar(&f.inline, "target", nil, "a target, such as `'GET http://127.0.0.1:8080/'`; may be repeated")
	fl.StringVar(&o.Format, "format", "http", "of the targets: http or json")
	fl.StringVar(&o.Body, "body", "", "`FILE` with the body of targets that have none")
	fl.Var(vegeta.HeaderValue{Header: &o.Header}, "header", "request header `'K: V'`; may be repeated")
	fl.StringVar(&o.Name, "name", "", "of the attack, kept in each result")
	fl.StringVar(&o.Output, "output", "", "results `FILE`; default standard output, unless that is a terminal")
	fl.StringVar(&f.encoding, "encoding", "gob", "of the results: gob, json or csv")
	fl.Var(vegeta.TimeoutValue{Timeout: &h.Timeout}, "timeout", "of a request; 0: none")
	fl.Uint64Var(&o.MaxWorkers, "max-workers", 0, "most requests in flight; default 10,000")
	fl.Uint64Var(&f.workers, "workers", 10, "taken for Vegeta's sake; workers come and go as needed")
	fl.BoolVar(&f.lazy, "lazy", false, "taken for Vegeta's sake; targets are read at once")
	fl.IntVar(&h.Connections, "connections", nethttp.DefaultConnections, "idle connections kept per host")
	fl.IntVar(&h.MaxConnections, "max-connections", 0, "connections per host; 0: no limit")
	fl.BoolVar(&f.keepalive, "keepalive", true, "keep connections open")
	fl.BoolVar(&f.http2, "http2", true, "HTTP/2 where the server offers it")
	fl.BoolVar(&h.H2C, "h2c", false, "HTTP/2 without TLS")
	fl.BoolVar(&h.TLS.Insecure, "insecure", false, "accept any certificate")
	fl.StringVar(&h.TLS.CertFile, "cert", "", "client certificate `FILE`, PEM")
	fl.StringVar(&h.TLS.KeyFile, "key", "", "key `FILE`; default the certificate's")
	fl.Var(vegeta.ListValue{Items: &h.TLS.RootFiles}, "root-certs", "certificate authorities, `FILE,...`, PEM")
	fl.Var(vegeta.RedirectsValue{N: &h.Redirects}, "redirects", "followed; -1: do not follow and count as success")
	fl.Var(vegeta.MaxBodyValue{Bytes: &h.MaxBody}, "max-body", "most bytes of a body that count; -1: all")
	fl.BoolVar(&h.Chunked, "chunked", false, "send bodies with chunked encoding")
	fl.StringVar(&h.LocalAddr, "laddr", "", "local IP `ADDRESS`")
	fl.StringVar(&h.UnixSocket, "unix-socket", "", "connect to this `SOCKET`, whatever the URL's host")
}

// complete turns the flags into options.
func (f *attackFlags) complete(e *env) error {
	o := &f.vegeta
	o.HTTP.NoKeepAlive, o.HTTP.NoHTTP2 = !f.keepalive, !f.http2
	for text := range strings.SplitSeq(f.rate, ",") {
		perSec, err := unit.ParseRate(text)
		if err != nil {
			return usagef("", "-rate: %w", err)
		}
		o.Steps = append(o.Steps, perSec)
	}
	if len(o.Steps) == 1 {
		o.Rate, o.Steps = o.Steps[0], nil
	}
	o.Encoding = vegeta.Encoding(f.encoding)
	o.Stdin, o.Stdout = e.stdin, e.stdout
	if len(f.inline) > 0 {
		o.Stdin, o.Targets, o.Format = inlineTargets(f.inline), "stdin", "http"
	}
	if err := o.Validate(); err != nil {
		return usageError{err, hintOf(err)}
	}
	return nil
}

// inlineTargets puts targets into the form of a targets file.
func inlineTargets(all []string) io.Reader {
	return strings.NewReader(strings.Join(all, "\n\n") + "\n")
}

func attack(parent context.Context, e *env, f *attackFlags) error {
	if err := f.complete(e); err != nil {
		return err
	}
	o := &f.vegeta
	ctx, hard, stop := interruptible(parent)
	defer stop()
	o.HTTP.Hard = hard
	handover := e.getenv(loop.HandoverEnv)
	text := o.Output == "" && (e.stdoutTTY || handover != "")
	if text {
		o.Stdout = io.Discard
	}
	live := &liveAttack{e: e, handover: handover, progress: e.progress()}
	o.Watch = live.watch
	res, err := vegeta.Attack(ctx, *o)
	live.stop(res.Summary, res.Warnings)
	if res.Tally == nil {
		return err
	}
	if text {
		fmt.Fprint(e.stdout, attackText(res))
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(e.stderr, "kasoku: warning: %s\n", w.Text)
		if w.Hint != "" {
			fmt.Fprintf(e.stderr, "kasoku: hint: %s\n", w.Hint)
		}
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return stopped{"stopped before the end: " + context.Cause(ctx).Error()}
	case res.Tally.Asked > 0 && res.Tally.Answered == 0:
		return unanswered(hard, o.HTTP, live.plan.Targets, res.Tally)
	}
	return nil
}

// unanswered says why no request was answered: nobody can be reached, or what
// listens there does not answer.
func unanswered(ctx context.Context, o nethttp.Options, targets []load.Target, t *kasoku.Tally) error {
	engine, err := nethttp.New(o)
	if err == nil {
		err = engine.Reach(ctx, targets)
	}
	if err != nil {
		return fmt.Errorf("no request was answered: %w", err)
	}
	return hinted{errors.New("no request was answered: " + firstError(t)),
		fmt.Sprintf("something listens there; `curl -v %s` shows what it says", targets[0].URL)}
}

func firstError(t *kasoku.Tally) string {
	if top := t.TopErrors(); len(top) > 0 {
		return top[0].Message
	}
	return "no error was told"
}

// attackText prints what an attack came to as Vegeta's report does.
func attackText(res vegeta.AttackResult) string {
	var b bytes.Buffer
	if err := vegeta.WriteText(&b, res.Metrics); err != nil {
		return err.Error() + "\n"
	}
	return b.String()
}

// liveAttack shows an attack's progress and hands its seconds to a recording.
type liveAttack struct {
	e        *env
	handover string
	progress *terminal.Progress
	recorder *load.Recorder
	plan     load.Plan
	began    time.Time
	quit     chan struct{}
	done     chan struct{}
}

// watch is called when the plan is known, right before the first request.
func (l *liveAttack) watch(p load.Plan) load.Sink {
	l.plan, l.began = p, time.Now()
	l.recorder = load.NewRecorder(p, 0)
	l.quit, l.done = make(chan struct{}), make(chan struct{})
	go l.follow()
	return l.recorder
}

func (l *liveAttack) follow() {
	defer close(l.done)
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-l.quit:
			return
		case <-tick.C:
		}
		now := time.Since(l.began)
		for _, st := range l.plan.Schedule.Steps() {
			if st.Interval.Contains(now) {
				t := l.recorder.Tally(st.Number)
				l.progress.Step(terminal.StepProgress{Number: st.Number, Of: len(l.plan.Schedule.Steps()), PerSec: st.PerSec,
					Elapsed: now - st.Interval.From, Planned: st.Planned, OK: t.Success, Errors: t.Failed(), P99: t.Latency.Quantile(0.99)})
			}
		}
		if n%4 == 0 {
			l.hand(kasoku.LoadSummary{Engine: "nethttp", Model: "open loop", Targets: l.plan.Names()}, nil, false)
		}
	}
}

// hand leaves what was measured so far where a recording finds it.
func (l *liveAttack) hand(sum kasoku.LoadSummary, warnings []kasoku.Warning, over bool) {
	if l.handover == "" {
		return
	}
	mono, err := loop.Monotonic(l.began)
	h := loop.Handover{StartMonotonic: mono, Steps: l.steps(over && sum.Stopped == ""), Summary: sum, Seconds: l.recorder.Seconds(), Warnings: warnings}
	if err = errors.Join(err, h.Write(l.handover)); err != nil {
		fmt.Fprintf(l.e.stderr, "kasoku: warning: the recording does not get the load's figures: %v\n", err)
	}
}

// steps are those that began, cut to what was done of them while the attack runs
// or when it was stopped early.
func (l *liveAttack) steps(whole bool) []kasoku.Step {
	if whole {
		return l.plan.Schedule.Steps()
	}
	var out []kasoku.Step
	now := time.Since(l.began)
	for _, st := range l.plan.Schedule.Steps() {
		if st.Interval.From < now {
			st.Interval.To = min(st.Interval.To, now)
			out = append(out, st)
		}
	}
	return out
}

func (l *liveAttack) stop(sum kasoku.LoadSummary, warnings []kasoku.Warning) {
	if l.recorder == nil {
		return
	}
	close(l.quit)
	<-l.done
	l.progress.Clear()
	l.hand(sum, warnings, true)
}
