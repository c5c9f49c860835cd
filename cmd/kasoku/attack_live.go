package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/loop"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/unit"
)

// liveAttack shows an attack's progress and hands its seconds to a recording.
type liveAttack struct {
	e        *env
	handover string   // the file's name, empty without a recording
	watchers []string // or those of who looks on
	hands    []*loop.HandoverWriter
	progress *terminal.Progress
	random   bool // when requests are due, so that nobody knows how many are

	running *vegeta.Running // nil before the first request
	steps   []kasoku.Step
	quit    chan struct{}
	done    chan struct{}
}

// begin is called when the plan is known, right before the first request.
func (l *liveAttack) begin(ctx context.Context, r *vegeta.Running) {
	l.running, l.steps = r, r.Plan.Schedule.Steps()
	if l.handsOver() {
		r.Recorder.KeepSeconds()
	}
	l.quit, l.done = make(chan struct{}), make(chan struct{})
	go l.follow(ctx)
}

// follow draws the progress four times a second and hands over once a second.
func (l *liveAttack) follow(ctx context.Context) {
	defer close(l.done)
	var ticks <-chan time.Time
	if l.e.stderrTTY || l.handsOver() {
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		ticks = tick.C
	}
	interrupt := ctx.Done()
	for n := 1; ; {
		select {
		case <-l.quit:
			return
		case <-interrupt:
			interrupt = nil
			l.progress.Say("stopping: no new requests; waiting for answers, at most " + unit.Exact(load.DefaultDrain) + " (^C again: now)")
		case <-ticks:
			l.progress.Load(l.now())
			if n%4 == 0 {
				l.hand(kasoku.LoadSummary{Model: "open loop", Targets: l.running.Plan.Names()}, nil, false)
			}
			n++
		}
	}
}

// handOver is how long an engine keeps what has ended before it tells: requests that
// were due less long ago are not said to be in flight.
const handOver = 25 * time.Millisecond

// now is how far the attack is.
func (l *liveAttack) now() terminal.LoadProgress {
	at := time.Since(l.running.Start)
	live := l.running.Recorder.Live(at)
	p := terminal.LoadProgress{Of: len(l.steps), Elapsed: at, PerSec: -1, Errors: live.Failed, InFlight: -1}
	if end := l.steps[len(l.steps)-1].Interval.To; end < load.Forever {
		at = min(at, end-1)
		p.Planned, p.Elapsed = end, at
	}
	var due float64
	for _, s := range l.steps {
		if s.Interval.From <= at {
			p.Number = s.Number
			p.Asked = rateAt(s, at)
		}
		if s.Interval.From <= at-handOver {
			due += dueBy(s, at-handOver)
		}
	}
	if due > 0 && !l.random {
		p.InFlight = max(int(due)-int(live.Total), 0)
	}
	if t := live.LastSecond; live.Second >= 0 {
		p.PerSec, p.P50, p.P99 = float64(t.Asked), t.Latency.Quantile(0.5), t.Latency.Quantile(0.99)
	}
	return p
}

// rateAt is the rate that a step asks for; after its end 0.
func rateAt(s kasoku.Step, at time.Duration) float64 {
	switch {
	case !s.Interval.Contains(at):
		return 0
	case s.PerSecTo == 0:
		return s.PerSec
	}
	return s.PerSec + (s.PerSecTo-s.PerSec)*(at-s.Interval.From).Seconds()/s.Interval.Len().Seconds()
}

// dueBy is how many requests of a step are due by then, when they are spaced evenly.
func dueBy(s kasoku.Step, at time.Duration) float64 {
	at = min(at, s.Interval.To-1)
	return (s.PerSec + rateAt(s, at)) / 2 * (at - s.Interval.From).Seconds()
}

// handsOver reports whether anybody wants the seconds.
func (l *liveAttack) handsOver() bool { return l.handover != "" || len(l.watchers) > 0 }

// hand leaves what was measured so far where a recording, or who looks on, finds it.
func (l *liveAttack) hand(sum kasoku.LoadSummary, warnings []kasoku.Warning, over bool) {
	if !l.handsOver() {
		return
	}
	h := loop.Handover{Steps: begun(l.steps, over && sum.Stopped == "", issued(&sum, time.Since(l.running.Start))),
		Summary: sum, Seconds: l.running.Recorder.Take(), Warnings: warnings}
	if l.hands == nil {
		for _, path := range l.files() {
			w, err := loop.NewHandover(path, l.running.Start)
			if err != nil {
				l.complain(err)
				return
			}
			l.hands = append(l.hands, w)
		}
	}
	for i, path := range l.files() {
		if _, err := os.Stat(path); err != nil && l.handover == "" {
			continue // nobody looks on any more
		}
		l.complain(l.hands[i].Write(h))
	}
}

// files are those into which the load is handed over.
func (l *liveAttack) files() []string {
	if l.handover != "" {
		return []string{l.handover}
	}
	return l.watchers
}

// complain says that a recording lacks something. Who only looks on is not told.
func (l *liveAttack) complain(err error) {
	if err != nil && l.handover != "" {
		fmt.Fprintf(l.e.stderr, "kasoku: warning: the recording does not get the load's figures: %v\n", err)
	}
}

// end stops following, and hands over the rest.
func (l *liveAttack) end(sum kasoku.LoadSummary, warnings []kasoku.Warning) {
	if l.running == nil {
		return
	}
	close(l.quit)
	<-l.done
	l.progress.Clear()
	l.hand(sum, warnings, true)
}
