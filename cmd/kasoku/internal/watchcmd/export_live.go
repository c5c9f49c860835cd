package watchcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/export"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/localhttp"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/report/terminal"
)

// waiting is how many frames may wait for an output: more than a minute of ten
// sources.
const waiting = 1000

// staleTicks is after how many ticks without values a source counts as down.
const staleTicks = 5

// exportLive samples and exports until Ctrl-C or --for.
func (f *exportFlags) exportLive(parent context.Context, e *cli.Env) (err error) {
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	l, o, err := f.beginLive(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	await, err := f.awaited(l.Sources)
	if err != nil {
		return errors.Join(err, closeSources(l.Sources))
	}
	ctx, cancel := f.watch.limited(ctx)
	defer cancel()
	defer cli.OutliveReader()()
	ctx, unread := context.WithCancel(ctx)
	defer unread()
	reader := &cli.ReadBy{Writer: e.Stdout, Cancel: unread}
	read := *e
	e, read.Stdout = &read, reader
	// Whole seconds of the wall are whole ticks, so that points have the time they
	// were read at.
	f.watch.loop.Interval = o.Interval
	now := time.Now()
	start := now.Add(-time.Duration(now.Nanosecond()))
	if f.to == "prometheus" {
		page := export.NewPage(l.Host.Name, start, max(5*time.Second, staleTicks*o.Interval), sourceNames(l.Sources))
		return f.serve(ctx, e, page, func(ctx context.Context) error {
			return f.sample(ctx, e, l, start, page, await)
		})
	}
	out, summary, err := f.liveOutput(ctx, e, l, start)
	if err != nil {
		return errors.Join(err, closeSources(l.Sources))
	}
	err = f.sample(ctx, e, l, start, out, await)
	last, cancelLast := context.WithTimeout(context.WithoutCancel(ctx), flushWithin)
	defer cancelLast()
	if err = errors.Join(err, out.Close(last)); reader.Gone.Load() {
		err = nil // who read it, as head, has what it wanted
	}
	if summary != nil {
		text, kept := summary()
		fmt.Fprintln(e.Stderr, text)
		err = cmp.Or(err, kept)
	}
	return err
}

// beginLive opens what is sampled: as kasoku.toml says, else what runs here. A database
// that was found and does not let kasoku in is left out.
func (f *exportFlags) beginLive(ctx context.Context, e *cli.Env) (*record.Live, record.Options, error) {
	w, notes, err := f.watch.options(ctx, e)
	if err != nil {
		return nil, record.Options{}, err
	}
	o := w.Watch
	f.runs, f.place, f.places = w.Runs, w.Dir, record.Places(o)
	if o.Interval == 0 {
		o.Interval = observe.DefaultInterval
	}
	l, err := record.NewLive(ctx, o)
	if err != nil && o.MySQL != "" && !f.watch.named() && ctx.Err() == nil {
		notes = append(notes, "no database: "+err.Error())
		o.MySQL = ""
		l, err = record.NewLive(ctx, o)
	}
	if err != nil {
		return nil, o, err
	}
	for _, n := range notes {
		e.Caution(n, "")
	}
	return l, o, nil
}

// awaitedSeries are the patterns of --only of which it is known once the sources are read
// whether they take anything.
type awaitedSeries struct {
	patterns, open []string
}

// awaited refuses patterns that can take nothing.
func (f *exportFlags) awaited(from []observe.Source) (a awaitedSeries, err error) {
	keys, open := export.LiveKeys(sourceNames(from))
	var none []string
	for _, p := range export.Selection(f.only).Unmatched(keys) {
		if slices.ContainsFunc(open, func(s string) bool { return export.Concerns(p, s) }) {
			a.patterns = append(a.patterns, p)
		} else {
			none = append(none, p)
		}
	}
	if a.open = open; len(none) > 0 {
		err = noSeries("nothing that is sampled here has such a series", none, keys)
	}
	return a, err
}

// liveOutput is where the frames go, which never waits, and what is reported at the end.
func (f *exportFlags) liveOutput(
	ctx context.Context, e *cli.Env, l *record.Live, start time.Time,
) (export.Output, func() (string, error), error) {
	switch f.to {
	case "graphite":
		out, err := f.carbon(ctx, e, start, true)
		if err != nil {
			return nil, nil, err
		}
		watch, err := f.watchCarbon(ctx, e, out)
		if err != nil {
			return nil, nil, errors.Join(err, out.Close(ctx))
		}
		return out, func() (string, error) {
			return carbonSummary(out.Stats(), f.carbonAddress()), watch.end(ctx, false)
		}, nil
	case "mackerel":
		c, err := f.mackerel.client(e)
		if err != nil {
			return nil, nil, err
		}
		out, err := f.mackerel.output(ctx, c, []string{l.Host.Name}, export.MackerelOptions{Start: start, Live: true})
		if err != nil {
			return nil, nil, err
		}
		if len(f.only) == 0 && !f.mackerel.all {
			names := export.ChosenOf(sourceNames(l.Sources))
			f.sayChosen(e, "at most "+unit.Counted(len(names), "series", "series")+" of this host", names)
		}
		return export.NewAsync(f.filtered(out), waiting), func() (string, error) { return mackerelSummary(out.Stats()), nil }, nil
	}
	w, end, err := f.create(e)
	if err != nil {
		return nil, nil, err
	}
	return export.NewAsync(export.Flushed(f.table(w, start), w.Flush, end), waiting), nil, nil
}

// sample lets the sampler run until ctx ends.
func (f *exportFlags) sample(ctx context.Context, e *cli.Env, l *record.Live, start time.Time, out export.Output,
	await awaitedSeries) error {
	var refused error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	choice := handover.NewChoice(f.place, f.places, func(dir string, taken bool) {
		if dir = cmp.Or(dir, "another project"); taken {
			fmt.Fprintf(e.Stderr, "kasoku: warning: the load is that of %s\n", terminal.Clean(dir))
		} else {
			fmt.Fprintf(e.Stderr, "kasoku: warning: a load of %s is not handed on: `kasoku export --live` there does\n",
				terminal.Clean(dir))
		}
	})
	loads, leave := listenToLoads(e, start, choice)
	recorded := handover.NewRecorded(f.runs, start)
	recorded.Choose(choice)
	reading, read := context.WithCancel(ctx)
	var reader sync.WaitGroup
	reader.Go(contain.Func(contain.Part{Kind: contain.Source, Name: "recorded runs"}, func() { recorded.Follow(reading) }))
	sink := export.NewLive(export.LiveOptions{Output: out, Form: f.form(), Only: f.only, Loads: loads,
		Recorded: recorded.Take, Await: await.patterns, Open: await.open,
		OnUnmatched: func(none []string, seen []kasoku.Key) {
			refused = noSeries("nothing that is sampled here has such a series", none, seen)
			cancel()
		},
		OnGap: func(g kasoku.Gap) {
			fmt.Fprintf(e.Stderr, "kasoku: warning: %s gave nothing for %s: %q\n", g.Source,
				unit.Duration(g.Interval.Len()), g.Reason)
		},
		OnMissing: func(g kasoku.Gap) {
			fmt.Fprintf(e.Stderr, "kasoku: warning: %s gives nothing: %q\n", g.Source, g.Reason)
		},
	})
	sampler := observe.New(observe.Options{Host: l.Host.Name, Interval: f.watch.loop.Interval, Start: start,
		Sources: l.Sources, Sink: l.Nameless(ctx, sink)})
	err := sampler.Run(ctx)
	for _, w := range sampler.Warnings() {
		fmt.Fprintf(e.Stderr, "kasoku: warning: %s\n", terminal.Clean(w.Text))
	}
	read()
	reader.Wait()
	late, loadErr := sink.Finish()
	if late += recorded.Late(); late > 0 {
		fmt.Fprintf(e.Stderr, "kasoku: warning: %s answers of the load came too late for the second they are counted in\n", unit.Count(late))
	}
	if refused != nil {
		return errors.Join(refused, leave())
	}
	return errors.Join(err, loadErr, leave())
}

// listenToLoads lets `kasoku attack` find this export until leave is called. Without
// that, loads is nil.
func listenToLoads(
	e *cli.Env, start time.Time, choice *handover.Choice,
) (loads func() []kasoku.LoadSecond, leave func() error) {
	path, leave, err := handover.Listen()
	var handed *handover.Loads
	if err == nil {
		handed, err = handover.NewLoads(path, start)
	}
	if err != nil {
		fmt.Fprintf(e.Stderr, "kasoku: warning: a load of `kasoku attack` is not seen: %s\n", terminal.Clean(err.Error()))
		if leave == nil {
			leave = func() error { return nil }
		}
		return nil, leave
	}
	handed.Choose(choice)
	return func() []kasoku.LoadSecond {
		// What is broken in the file is of a load that was killed: the rest counts.
		seconds, _ := handed.Take()
		return seconds
	}, leave
}

// closeSources closes sources that no sampler was given.
func closeSources(sources []observe.Source) error {
	var errs []error
	for _, s := range sources {
		if c, ok := s.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

func sourceNames(sources []observe.Source) []string {
	names := []string{observe.SelfName}
	for _, s := range sources {
		names = append(names, s.Name())
	}
	return names
}

// serve shows a page while work is done.
func (f *exportFlags) serve(ctx context.Context, e *cli.Env, page http.Handler,
	work func(context.Context) error) error {
	access, err := f.access(e)
	if err != nil {
		return err
	}
	server, err := export.Serve(f.listen, page, access)
	if err != nil {
		return err
	}
	if access.Token == "" && !localhttp.IsLoopback(f.listen) {
		fmt.Fprintf(e.Stderr, "kasoku: warning: the page is open: whoever reaches %s reads what this host does\n",
			server.URL())
	}
	fmt.Fprintf(e.Stderr, "metrics  %s (Ctrl-C ends it)\n", server.URL())
	err = work(ctx)
	return errors.Join(err, server.Close())
}
