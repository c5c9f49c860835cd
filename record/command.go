package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/logs/score"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/record/printed"
	"github.com/kasoku/kasoku/store"
)

// runCommand runs the command beside the sources and keeps its output, exit
// code and resource use. A context that ends stops it, with all that it started.
func (s *session) runCommand(ctx context.Context) error {
	dir, err := private.MakeTempDir("", "kasoku-load-")
	if err != nil {
		return fmt.Errorf("make directory for the load's figures: %w", err)
	}
	defer dir.Close() //nolint:errcheck // the next recording removes it
	handed := dir.File("load")
	reports, err := handover.NewLoads(handed, s.start)
	if err != nil {
		return err
	}
	out := printed.New(func() time.Duration { return time.Since(s.start) })
	stdout, stderr := out.Writers(orDiscard(s.o.Stdout), orDiscard(s.o.Stderr))
	s.changes.notifyGuard(func(g *guard.Process) error { return g.Starting(handed) })
	defer s.changes.notifyGuard((*guard.Process).Ended)
	p, err := command.Start(ctx, command.Spec{
		Path: s.o.Command[0], Args: s.o.Command[1:], Dir: s.o.Dir, Stdin: s.o.Stdin,
		Stdout: stdout, Stderr: stderr,
		Env: append(slices.Clone(s.o.Env), handover.Env+"="+handed), StdoutEnv: handover.OutputEnv,
		EndWithParent: true,
	})
	if err != nil {
		s.run.Command = &kasoku.Command{Args: s.o.Command, ExitCode: startCode(err)}
		return err
	}
	s.changes.notifyGuard(func(g *guard.Process) error { return g.Started(p.Pid()) })
	s.service.addLoad(p.Pid())
	s.opened()
	s.loads.once.begin(time.Since(s.start), 0)
	began := time.Now()
	tick := time.NewTicker(s.o.Interval)
	var hard <-chan struct{}
	if s.o.Hard != nil {
		hard = s.o.Hard.Done()
	}
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-hard:
			hard = nil
			_, _ = p.Kill() // Wait reports the same
		case <-p.Done():
			ended = true
		case <-tick.C:
			s.progress(Progress{Phase: PhaseRecord, Elapsed: time.Since(began)})
			s.takeHandover(reports)
		}
	}
	res, err := p.Wait()
	s.run.Command = &kasoku.Command{
		Args: s.o.Command, ExitCode: res.ExitCode, Signal: res.Signal, Wall: res.Wall,
		User: res.User, System: res.System, MaxRSSBytes: res.MaxRSSBytes,
		VoluntarySwitch: res.Voluntary, ForcedSwitch: res.Forced,
	}
	s.run.Command.Output, s.run.Command.OutputTruncated = out.Tail()
	s.takeHandover(reports)
	s.loads.takeScore(out, res.Success())
	err = errors.Join(err, s.takeWords(out.Words()))
	if s.loads.summary != nil {
		s.loads.settle(ctx, s.o.Interval)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !res.Success() {
		s.warn(kasoku.Warning{Code: "command-failed", Text: fmt.Sprintf("the command ended without success: %s", res),
			Hint: "what it measured may be incomplete; look at what it wrote, and try it alone"})
	}
	return err
}

// notifyGuard notifies the guard process of the command, which is to end with the
// recorder. A guard that has gone shows at the end.
func (c *changes) notifyGuard(announce func(*guard.Process) error) {
	if c.guard != nil {
		_ = announce(c.guard)
	}
}

// startCode returns what a shell would report of a start that went wrong.
func startCode(err error) int {
	var start *command.StartError
	if errors.As(err, &start) {
		return start.ExitCode()
	}
	return command.Result{ExitCode: -1}.ExitCode
}

// takeHandover takes what the loads below the command reported since the last time, and where
// their requests go.
func (s *session) takeHandover(from *handover.Loads) {
	s.loads.takeHandover(from)
	for _, one := range from.All() {
		s.service.addPlaces(one.Places)
	}
}

// takeHandover takes what the loads below the command reported since the last time.
// There is nothing when the command makes none that reports.
func (l *loads) takeHandover(from *handover.Loads) {
	seconds, err := from.Take()
	l.keepSeconds(seconds)
	if err != nil {
		l.warnOnce(kasoku.Warning{Code: "handover", Text: "figures of the load's own are missing: " + err.Error()})
	}
	l.steps, l.summary, l.handed = nil, nil, nil
	l.phases, l.events, l.run.Score = nil, nil, nil
	for _, one := range from.All() {
		l.steps = append(l.steps, one.Steps...)
		l.addSummary(&one.Summary)
		l.handed = append(l.handed, one.Warnings...)
		l.phases = append(l.phases, one.Phases...)
		l.events = append(l.events, one.Events...)
		l.run.Score = cmp.Or(one.Score, l.run.Score)
	}
	slices.SortFunc(l.steps, func(a, b kasoku.Step) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortStableFunc(l.phases, func(a, b kasoku.Phase) int {
		return cmp.Compare(a.Interval.From,
			b.Interval.From)
	})
}

// takeScore reads the run's score from what the command printed, unless it handed over
// a load of kasoku's own: the score that came with it counts, and what its report
// says does not. Patterns that were asked for go before both.
func (l *loads) takeScore(out *printed.Output, success bool) {
	if l.summary != nil && l.o.Score.Empty() && l.o.Pass.Empty() {
		return
	}
	found, err := out.Score(l.o.Score, l.o.Pass)
	if err != nil {
		l.warn(kasoku.Warning{Code: "no-score", Text: strings.ReplaceAll(err.Error(), "\n", "; "), Hint: hint(err)})
	}
	if found != nil && found.Outcome == kasoku.Unjudged && !success {
		found.Outcome = kasoku.Failed // a benchmark that ends so did not get through
	}
	l.run.Score = found
}

// takeWords keeps what the benchmark said beside its score. Levels that came with a load of
// kasoku's own go before those of lines.
func (s *session) takeWords(said score.Words) error {
	l := s.loads
	known := slices.ContainsFunc(l.events, func(e kasoku.Event) bool { return e.Kind == kasoku.EventLevel })
	for _, e := range said.Events {
		if !known || e.Kind != kasoku.EventLevel {
			l.events = append(l.events, e)
		}
	}
	for i := range said.Messages {
		said.Messages[i].Host = s.host()
	}
	s.logs.messages = append(s.logs.messages, said.Messages...)
	return store.Save(s.store, s.logs.messages)
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}
