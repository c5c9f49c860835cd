package watchcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/export"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/graphite"
)

const (
	// shippedCreates is how many new series carbon creates a minute as it is shipped
	// (MAX_CREATES_PER_MINUTE in its carbon.conf).
	shippedCreates = 50
	// firstAsk is how long after its beginning a live export asks what is kept, and askEvery
	// how often after that.
	firstAsk = 5 * time.Second
	askEvery = time.Minute
	// keptWithin is how long after the end new series may take to be created. A server that
	// creates none for filesStill creates no more; one whose cache holds none of the missing ones
	// says so by itself, but for those in the making.
	keptWithin = 15 * time.Second
	filesStill = 2 * time.Second
	cacheStill = askAgain / 2
	askAgain   = time.Second
)

// A carbonWatch looks at the carbon that an export writes to: what it counts of itself, and
// which of the series exist.
type carbonWatch struct {
	e     *cli.Env
	out   *export.Carbon
	at    graphite.Options
	watch *graphite.Watch
	stop  context.CancelFunc
	ended <-chan struct{}

	// Of the watch's goroutine, and after its end of who ends it.
	tally    graphite.Tally
	reported map[string]bool // limits that were reported, by code
	nextAsk  time.Time
}

// watchCarbon begins to look.
func (f *exportFlags) watchCarbon(ctx context.Context, e *cli.Env, out *export.Carbon) (*carbonWatch, error) {
	at := f.server.At(f.carbonAddress())
	watch, err := graphite.NewWatch(at)
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	w := &carbonWatch{e: e, out: out, at: at, watch: watch, reported: map[string]bool{},
		nextAsk: time.Now().Add(firstAsk)}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	watch.Each = w.look
	w.ended = contain.Go(contain.Part{Kind: contain.Source, Name: graphite.Name}, func() { watch.Run(ctx) })
	return w, nil
}

// look reports limits as soon as the server does, and series that do not exist.
func (w *carbonWatch) look(ctx context.Context) {
	for _, r := range w.watch.Take() {
		w.tally.Add(r)
	}
	for _, l := range w.tally.Limits() {
		w.report(l.Code, l.Text, l.Hint)
	}
	if time.Now().Before(w.nextAsk) || w.reported["creates"] {
		return
	}
	w.nextAsk = time.Now().Add(askEvery)
	series := w.out.Series()
	if w.at.Storage != "" {
		return // which series are in the making is not known
	}
	if k, err := w.keptSurely(ctx, series); err == nil && k.Missing() > 0 {
		w.reportMissing(k, len(series))
	}
}

// keptSurely asks twice where series are missing: one may just be in the making.
func (w *carbonWatch) keptSurely(ctx context.Context, series []string) (graphite.Kept, error) {
	k, err := w.kept(ctx, series)
	if err != nil || k.Missing() == 0 {
		return k, err
	}
	again, err := w.kept(ctx, series)
	if again.Missing() > k.Missing() {
		return k, err
	}
	return again, err
}

// report prints a limit once.
func (w *carbonWatch) report(code, text, hint string) {
	if !w.reported[code] {
		w.reported[code] = true
		w.e.Caution(text, hint)
	}
}

// kept is what became of the series.
func (w *carbonWatch) kept(ctx context.Context, series []string) (graphite.Kept, error) {
	if w.at.Storage != "" {
		return graphite.KeptByFiles(w.at.Storage, series)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return graphite.KeptByCache(ctx, graphite.Caches(w.at.Query)[0], series)
}

// reportMissing says that series do not exist.
func (w *carbonWatch) reportMissing(k graphite.Kept, series int) {
	text := fmt.Sprintf("carbon has not created %s of %s series, and threw their points away", unit.Count(k.Missing()),
		unit.Count(k.Asked))
	if !k.All {
		text = fmt.Sprintf("carbon has not created %s of %s series that it was asked for, of %s, and threw "+
			"their points away",
			unit.Count(k.Missing()), unit.Count(k.Asked), unit.Count(series))
	}
	w.report("creates", text, graphite.CreatesHint+"; then export again")
}

// end ends the look, and reports what was kept. patient waits for new series to be created.
// The error is a bad answer: points that were sent are gone.
func (w *carbonWatch) end(ctx context.Context, patient bool) error {
	w.stop()
	<-w.ended
	series := w.out.Series()
	if w.out.Stats().Sent == 0 || len(series) == 0 {
		return nil
	}
	var k graphite.Kept
	var err error
	if patient {
		k, err = w.await(ctx, series)
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), cli.LastWords/2)
		defer cancel()
		k, err = w.keptSurely(ctx, series)
		if w.at.Storage != "" {
			k.Waiting = k.Asked - k.Exist // or are gone
		}
	}
	switch {
	case patient && ctx.Err() != nil:
		return nil
	case err != nil:
		if len(series) > shippedCreates && w.tally.Silent() {
			w.report("creates", fmt.Sprintf("whether carbon keeps all %s series is not known: as it is shipped "+
				"it creates %d new ones "+
				"a minute, and throws away the points of others", unit.Count(len(series)), shippedCreates), graphite.CreatesHint+
				"; `--query HOST:7002` or `--storage DIRECTORY` lets kasoku look")
		}
		return nil
	case k.Missing() > 0:
		w.reportMissing(k, len(series))
	case w.reported["creates"]: // points of the missing ones that came a moment ago wait in its cache
		return cli.Bad("carbon has not created all series, and threw points away")
	default:
		fmt.Fprintln(w.e.Stderr, keptText(k, len(series)))
		return nil
	}
	return cli.Bad(fmt.Sprintf("%s of %s series exist at the server", unit.Count(k.Exist), unit.Count(k.Asked)))
}

// keptText describes that none is missing.
func keptText(k graphite.Kept, series int) string {
	asked := unit.Count(k.Asked) + " series"
	if !k.All {
		asked += " that it was asked for, of " + unit.Count(series) + ","
	}
	if k.Waiting > 0 {
		return fmt.Sprintf("kept  %s of %s exist at the server so far", unit.Count(k.Exist), asked)
	}
	return fmt.Sprintf("kept  all %s exist at the server", asked)
}

// await asks until no point waits any more, or no more series are created.
func (w *carbonWatch) await(ctx context.Context, series []string) (graphite.Kept, error) {
	end := time.Now().Add(keptWithin)
	still, stillFor := time.Now(), cacheStill
	if w.at.Storage != "" {
		stillFor = filesStill
	}
	var last graphite.Kept
	for {
		k, err := w.kept(ctx, series)
		now := time.Now()
		if k.Exist > last.Exist {
			still = now
		}
		switch {
		case err != nil || k.Missing() == 0 && k.Waiting == 0:
			return k, err
		case now.After(end), k.Waiting == 0 && now.Sub(still) > stillFor:
			return k, nil
		}
		last = k
		timer := time.NewTimer(askAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return k, ctx.Err()
		}
	}
}
