package nethttp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

// endless is a load of 200/s that goes on until it is stopped.
func endless(t testing.TB, url string) load.Plan {
	t.Helper()
	s, err := load.Constant(200, 0)
	if err != nil {
		t.Fatal(err)
	}
	return load.Plan{Schedule: s, Targets: []load.Target{get(url)}}
}

func TestStopAbortsWhatHangs(t *testing.T) {
	s := loadtest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	hard, kill := context.WithCancel(t.Context())
	e, err := New(Options{Hard: hard})
	if err != nil {
		t.Fatal(err)
	}
	p := endless(t, s.URL("/hang"))
	rec := load.NewRecorder(p, 0)
	time.AfterFunc(100*time.Millisecond, cancel)
	time.AfterFunc(150*time.Millisecond, kill)
	began := time.Now()
	sum, err := e.Run(ctx, p, began, rec)
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("the hard stop took %s", d)
	}
	tally := rec.Tally(0)
	if sum.Stopped != "interrupt" || tally.Asked == 0 || tally.Codes[0] != tally.Asked {
		t.Errorf("summary %+v, codes %v of %d", sum, tally.Codes, tally.Asked)
	}
	for msg := range tally.Errors {
		if !strings.HasSuffix(msg, load.ErrAborted.Error()) && msg != load.ErrNotSentStop.Error() {
			t.Errorf("error is %q", msg)
		}
	}
}

func TestStopLetsAnswersIn(t *testing.T) {
	s := loadtest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := endless(t, s.URL("/ok"))
	rec := load.NewRecorder(p, 0)
	sum, err := e.Run(ctx, p, time.Now(), rec)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine some may have been due and not sent when the stop came.
	tally := rec.Tally(0)
	if late := tally.Errors[load.ErrNotSentStop.Error()]; sum.Stopped != "deadline" || tally.Success == 0 || tally.Success+late != tally.Asked {
		t.Errorf("summary %+v, codes %v, errors %v of %d", sum, tally.Codes, tally.Errors, tally.Asked)
	}
	if sum.Engine != "nethttp" || sum.EngineWhy == "" || sum.MaxInFlight == 0 || sum.Cores == 0 {
		t.Errorf("bad summary %+v", sum)
	}
}

func TestTimeoutLeavesTheNextRequestAlone(t *testing.T) {
	s := loadtest.Start(t)
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, stop, err := e.begin(t.Context(), []load.Target{get(s.URL("/hang")), get(s.URL("/ok"))})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	all.timeout = 10 * time.Millisecond
	c := &client{shared: all}
	for range 3 {
		hang := load.Hit{Target: 0}
		if c.Do(t.Context(), &hang); hang.Code != 0 || !strings.HasSuffix(hang.Err, ErrTimeout.Error()) {
			t.Errorf("bad hit %+v", hang)
		}
		c.timeout = DefaultTimeout
		for range 2 {
			ok := load.Hit{Target: 1}
			if c.Do(t.Context(), &ok); ok.Code != 200 {
				t.Errorf("bad hit %+v", ok)
			}
		}
		c.timeout = 10 * time.Millisecond
	}
}

func TestNoTimeout(t *testing.T) {
	s := loadtest.Start(t)
	_, hits := attack(t, t.Context(), Options{Timeout: -1, MaxInFlight: 1}, 3, get(s.URL("/ok")))
	for _, h := range hits {
		if h.Code != 200 {
			t.Errorf("bad hit %+v", h)
		}
	}
}
