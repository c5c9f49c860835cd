package attackcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load/carbon"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/loadreport"
)

// leastArrived is the share of the due points that have to arrive for a load to be good.
const leastArrived = 0.95

// runCarbon makes a load of carbon and reports what came of it.
func (f *attackFlags) runCarbon(parent context.Context, e *cli.Env) error {
	o, err := f.carbon.options(f)
	if err != nil {
		return err
	}
	o.Permit = f.vegeta.Engine.HTTP.Permit
	f.permit(&o.Permit)
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	toggle, restore := f.carbon.toggles()
	defer restore()
	o.Toggle = toggle
	watching, watched := context.WithCancel(context.WithoutCancel(ctx))
	defer watched()
	watch, err := graphite.NewWatch(f.carbon.server.At(o.Address))
	if err != nil {
		return cli.Usage(err, "")
	}
	var looked <-chan struct{}
	o.Begun = func() { // a host that may not be loaded is not asked either
		looked = contain.Go(contain.Part{Kind: contain.Source, Name: graphite.Name}, func() { watch.Run(watching) })
	}
	progress := e.Progress()
	var vars carbonVars
	shown, err := vars.serve(f.carbon.vars)
	if err != nil {
		return err
	}
	defer shown()
	o.Watch = func(now *carbon.Result) {
		vars.seen(now)
		if e.StderrTTY {
			progress.Work("carbon", carbonShare(now), carbonProgress(now))
		}
	}
	res, err := carbon.Run(ctx, o)
	progress.Clear()
	if err != nil {
		return f.carbonRefusal(err)
	}
	f.awaitReadings(ctx, watch, res)
	watched()
	<-looked
	report := f.carbonReport(ctx, watch, res)
	if err := f.out.Print(e, cli.Printer{
		Doc:  loadreport.CarbonDocument(report, e.ReportOptions("")),
		JSON: func(w io.Writer) error { return encode.CarbonJSON(w, report, e.ReportOptions("")) },
	}); err != nil {
		return err
	}
	return judgeCarbon(report)
}

// carbonRefusal is how a load of carbon ends that did not begin.
func (f *attackFlags) carbonRefusal(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return cli.WithHint(err, "nothing listens there: carbon-cache takes lines on port 2003, pickled lists "+
			"on 2004; a relay on "+
			"2013 and 2014; see LINE_RECEIVER_PORT in carbon.conf")
	}
	return f.refusal(err)
}

// judgeCarbon is good when nearly all that was due arrived.
func judgeCarbon(c *loadreport.Carbon) error {
	r := c.Result
	switch due, arrived := r.Total.Nominal, c.Arrived(); {
	case c.Stopped:
		return cli.Stopped("stopped before the end")
	case due > 0 && arrived == 0:
		return cli.Bad("no point arrived")
	case float64(arrived) < leastArrived*float64(due):
		return cli.Bad(fmt.Sprintf("%s of the points that were due arrived",
			unit.Percent(float64(arrived)/float64(due))))
	}
	return nil
}

// awaitReadings waits for what the server reports of the last seconds: once, where it answers or it was asked for,
// and not after an interrupt.
func (f *attackFlags) awaitReadings(ctx context.Context, w *graphite.Watch, res *carbon.Result) {
	if ok, _ := w.Answered(); !ok && !f.set("settle") || res.Stopped {
		return
	}
	timer := time.NewTimer(f.carbon.settle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// carbonReport is the result with what the server reported.
func (f *attackFlags) carbonReport(ctx context.Context, w *graphite.Watch, res *carbon.Result) *loadreport.Carbon {
	c := &loadreport.Carbon{Result: res, Name: f.vegeta.Name, Load: f.carbon.describe(), Readings: w.Take(),
		Stopped: ctx.Err() != nil && res.Options.Duration > 0}
	if len(c.Readings) > 0 {
		return c
	}
	switch answered, err := w.Answered(); {
	case answered:
		c.Unseen = "It reported nothing of itself in this time: it does so every CARBON_METRIC_INTERVAL, of " +
			"carbon.conf, 60 s unless " +
			"it is set; and only under a name that is known here: `--server-name agents.HOST-a`."
	case err != nil:
		c.Unseen = "What it received and wrote is not known: " + err.Error() +
			". `--query HOST:7002`, `--storage DIRECTORY` or " +
			"`--render URL` say where it reports of itself."
	}
	return c
}

// carbonShare is how much of a load is over, 0 when that is not known.
func carbonShare(now *carbon.Result) float64 {
	if now.Options.Duration == 0 {
		return 0
	}
	return min(now.Total.To.Seconds()/now.Options.Duration.Seconds(), 1)
}

// carbonProgress is the last second in a line.
func carbonProgress(now *carbon.Result) string {
	s := now.Seconds[len(now.Seconds)-1]
	long := max((s.To - s.From).Seconds(), 1e-3)
	text := fmt.Sprintf("%s of %s points/s", unit.Count(int64(float64(s.Sent)/long)),
		unit.Count(int64(float64(s.Nominal)/long)))
	if s.Outstanding > 0 {
		text += ", " + unit.Count(s.Outstanding) + " outstanding"
	}
	if n := now.Total.Lost + now.Total.Skipped; n > 0 {
		text += ", " + unit.Count(n) + " lost or left out"
	}
	return text + fmt.Sprintf("; %s of %s agents", unit.Count(s.Agents), unit.Count(now.Options.Agents))
}

// toggles returns what stops the launch of haggar's agents and lets it go on: SIGUSR1.
func (c *carbonFlags) toggles() (toggle <-chan os.Signal, restore func()) {
	if c.as != asHaggar {
		return nil, func() {}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	return signals, func() { signal.Stop(signals) }
}
