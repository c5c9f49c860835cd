package main

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/loop"
	"github.com/kasoku/kasoku/report/terminal"
)

// liveAttack shows an attack's progress and hands its seconds to a recording.
type liveAttack struct {
	e        *env
	handover string // the file's name, empty without a recording
	hands    *loop.HandoverWriter
	progress *terminal.Progress
	recorder *load.Recorder
	plan     load.Plan
	began    time.Time
	quit     chan struct{}
	done     chan struct{}
}

// watch is called when the plan is known, right before the first request.
func (l *liveAttack) watch(r *vegeta.Running) load.Sink {
	l.plan, l.began, l.recorder = r.Plan, r.Start, r.Recorder
	if l.handover != "" {
		l.recorder.KeepSeconds()
	}
	l.quit, l.done = make(chan struct{}), make(chan struct{})
	go l.follow()
	return nil
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
	var err error
	if l.hands == nil {
		l.hands, err = loop.NewHandover(l.handover, l.began)
	}
	if err == nil {
		err = l.hands.Write(loop.Handover{Steps: begun(l.plan.Schedule.Steps(), over && sum.Stopped == "", time.Since(l.began)),
			Summary: sum, Seconds: l.recorder.Take(), Warnings: warnings})
	}
	if err != nil {
		fmt.Fprintf(l.e.stderr, "kasoku: warning: the recording does not get the load's figures: %v\n", err)
	}
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
