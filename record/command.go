package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/record/handover"
)

// keptOutput is how much of a command's output a run keeps, from its end.
const keptOutput = 64 << 10

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
	out := newOutput()
	s.changes.notifyGuard(func(g *guard.Process) error { return g.Starting(handed) })
	defer s.changes.notifyGuard((*guard.Process).Ended)
	p, err := command.Start(ctx, command.Spec{
		Path: s.o.Command[0], Args: s.o.Command[1:], Dir: s.o.Dir, Stdin: s.o.Stdin,
		Stdout: out.stdout.Tee(out.tail.Tee(orDiscard(s.o.Stdout))), Stderr: out.stderr.Tee(out.tail.Tee(orDiscard(s.o.Stderr))),
		Env: append(slices.Clone(s.o.Env), handover.Env+"="+handed), StdoutEnv: handover.OutputEnv, EndWithParent: true,
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
		Output: string(out.tail.Bytes()), OutputTruncated: out.tail.Truncated(),
	}
	s.takeHandover(reports)
	s.loads.takeScore(out, res.Success())
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
	slices.SortStableFunc(l.phases, func(a, b kasoku.Phase) int { return cmp.Compare(a.Interval.From, b.Interval.From) })
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}
