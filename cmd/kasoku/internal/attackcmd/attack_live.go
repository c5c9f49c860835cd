package attackcmd

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/topology/find"
)

// liveAttack shows an attack's progress and hands its seconds to a recording.
type liveAttack struct {
	e        *cli.Env
	handover string // the file's name, empty without a recording
	hands    *handover.Writer
	watchers *handover.Onlookers // who looks on without a recording; nil with one
	progress *terminal.Progress
	dial     nethttp.Dial
	places   []string // where requests go, for a recording
	random   bool     // when requests are due, so that it is not known how many are

	running *vegeta.Running // nil before the first request
	steps   []kasoku.Step
	keeps   bool          // the seconds, for who wants them
	charts  *chartSeconds // nil: the report has none
	quit    chan struct{}
	done    chan struct{}
}

// begin is called when the plan is known, right before the first request.
func (l *liveAttack) begin(ctx context.Context, r *vegeta.Running) {
	l.running, l.steps = r, r.Plan.Schedule.Steps()
	l.places = placesOf(&r.Plan, l.dial)
	if l.handover == "" {
		l.watchers = handover.NewOnlookers(r.Start)
	}
	l.looked()
	if l.handover != "" { // a short load is over before its first second is
		l.hand(kasoku.LoadSummary{Model: "open loop", Targets: r.Plan.Names()}, nil, false)
	}
	l.quit, l.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.done)
		_ = contain.Run(contain.Part{Kind: contain.Step, Name: "progress"}, func() { l.follow(ctx) })
	}()
}

// say prints what becomes of a generator.
func (l *liveAttack) say(text string) { l.progress.Say(text) }

// follow draws the progress four times a second and hands over once a second.
func (l *liveAttack) follow(ctx context.Context) {
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	interrupt := ctx.Done()
	for n := 1; ; {
		select {
		case <-l.quit:
			return
		case <-interrupt:
			interrupt = nil
			l.progress.Say("stopping: no new requests; waiting for " +
				"answers, at most " + unit.Exact(load.DefaultDrain) + " (^C again: now)")
		case <-tick.C:
			if l.e.StderrTTY {
				l.progress.Load(l.now())
			}
			if n%4 == 0 {
				l.looked()
				l.hand(kasoku.LoadSummary{Model: "open loop", Targets: l.running.Plan.Names()}, nil, false)
			}
			n++
		}
	}
}

// handOver is how long an engine keeps what has ended before it reports: requests that
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

// looked looks whether anybody wants the seconds: a recording, or who looks on by now.
func (l *liveAttack) looked() {
	wanted := l.handover != "" || l.watchers.Look() || l.charts != nil
	if wanted && !l.keeps {
		l.running.Recorder.KeepSeconds()
		l.keeps = true
	}
}

// hand leaves what was measured so far where a recording, or who looks on, finds it.
func (l *liveAttack) hand(sum kasoku.LoadSummary, warnings []kasoku.Warning, over bool) {
	if !l.keeps {
		return
	}
	seconds := l.running.Recorder.Take()
	l.charts.add(seconds)
	h := handover.Report{Steps: stepsBegun(l.steps, over && sum.Stopped == "", issuedFor(&sum, time.Since(l.running.Start))),
		Places: l.places, Summary: sum, Seconds: seconds, Warnings: warnings}
	if l.handover == "" {
		l.watchers.Write(h)
		return
	}
	if l.hands == nil {
		var err error
		if l.hands, err = handover.NewWriter(l.handover, l.running.Start); err != nil {
			l.complain(err)
			return
		}
	}
	l.complain(l.hands.Write(h))
}

// chartSeconds are the seconds of a load for the charts of its report.
type chartSeconds struct{ list []kasoku.LoadSecond }

// mostCharted bounds how many seconds are kept; of a longer load there are no charts.
const mostCharted = 3600

// add adds what was counted of seconds, of all targets together.
func (c *chartSeconds) add(parts []kasoku.LoadSecond) {
	if c == nil {
		return
	}
	for i := range parts {
		p := &parts[i]
		at := slices.IndexFunc(c.list, func(s kasoku.LoadSecond) bool { return s.Second == p.Second && s.Step == p.Step })
		if at < 0 {
			at = len(c.list)
			c.list = append(c.list, kasoku.LoadSecond{Second: p.Second, Step: p.Step})
		}
		c.list[at].Add(p)
	}
	if len(c.list) > mostCharted {
		c.list = c.list[:mostCharted]
	}
}

// taken are the seconds, nil where there were too many.
func (c *chartSeconds) taken() []kasoku.LoadSecond {
	if c == nil || len(c.list) >= mostCharted {
		return nil
	}
	slices.SortFunc(c.list, func(a, b kasoku.LoadSecond) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.Step, b.Step))
	})
	return c.list
}

// complain reports that a recording lacks something. An onlooker gets no complaint.
func (l *liveAttack) complain(err error) {
	if err != nil {
		l.e.Caution("the recording does not get the load's figures: "+err.Error(), "")
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

// placesOf returns where the requests of a plan go, without paths, queries and users, and by
// which name they ask there where that is another; none when its targets come one by one.
func placesOf(plan *load.Plan, dial nethttp.Dial) (out []string) {
	const most = 16
	for i := range plan.Targets {
		t := &plan.Targets[i]
		u, err := url.Parse(t.URL)
		if err != nil || u.Hostname() == "" || len(out) >= most {
			continue
		}
		own := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80"))
		for _, at := range dialled(own, dial) {
			if at = find.Target(at, t.Header); at != "http://"+own && !strings.Contains(at, " ") {
				at = find.Target(at, http.Header{"Host": {u.Host}})
			}
			if !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// dialled returns what is connected to for a place: a Unix socket, or what SRC:PORT:DST:PORT
// says of it.
func dialled(place string, dial nethttp.Dial) (out []string) {
	if dial.UnixSocket != "" {
		return []string{"unix:" + dial.UnixSocket}
	}
	for _, rule := range dial.ConnectTo {
		if to, ok := strings.CutPrefix(rule, place+":"); ok {
			out = append(out, "http://"+to)
		}
	}
	if len(out) == 0 {
		return []string{"http://" + place}
	}
	return out
}
