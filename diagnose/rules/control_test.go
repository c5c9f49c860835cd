package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
)

func (b *build) poolIdle(value string) *build {
	b.Settings = append(b.Settings, kasoku.Setting{Scope: "app", Name: "pool.max_idle", Value: value})
	return b
}

// control diagnoses a run against a baseline, both of hand-made recordings.
func control(before, after *build) ([]kasoku.Finding, []kasoku.Silence) {
	return pool.IdleControl{}.Check(diagnose.NewCase(after.Recording, before.Recording))
}

func TestIdleControl_Fires(t *testing.T) {
	f := func(before, after *build, title string, level kasoku.Level) {
		t.Helper()
		found, silent := control(before, after)
		if len(found) != 1 {
			t.Fatalf("silent: %+v", silent)
		}
		x := found[0]
		if x.Severity != kasoku.Info || x.Title != title || x.Confidence.Level != level || x.Object.Name == "" {
			t.Errorf("%s %q %s confidence %+v", x.Severity, x.Title, x.Object, x.Confidence)
		}
	}
	const none, worse = "A changed idle pool shows no effect", "A changed idle pool shows no gain; the run got worse"
	few := func() *build { return ladder().fail(3, 560, 500, "500") }
	f(few().poolIdle("1000"), few().poolIdle("10000"), none, kasoku.High)
	f(few().poolIdle("1000"), ladder().fail(3, 810, 500, "500").poolIdle("10000"), worse, kasoku.High)
	// Not half a point more and 9 % faster are noise.
	f(ladder().fail(3, 600, 500, "500").latency(3, 100*time.Millisecond, 0).poolIdle("1000"),
		ladder().fail(3, 560, 500, "500").latency(3, 91*time.Millisecond, 0).poolIdle("10000"), none, kasoku.High)
	// More successes that are much slower are more successes; as many that are
	// slower are worse.
	f(few().poolIdle("1000"), few().latency(3, 20*time.Millisecond, 0).poolIdle("10000"), worse, kasoku.High)
	// By a flag of the command that was run.
	a, b := few(), few()
	a.Run.Command = &kasoku.Command{Args: []string{"serve", "--db-max-idle", "1000", "-v"}}
	b.Run.Command = &kasoku.Command{Args: []string{"serve", "--db-max-idle", "10000", "-v"}}
	f(a, b, none, kasoku.High)
	a.Run.Command.Args, b.Run.Command.Args = []string{"serve", "-maxIdle=1"}, []string{"serve", "-maxIdle=2"}
	f(a, b, none, kasoku.High)
	// What differs between any two servers does not count.
	f(few().poolIdle("1000").setting("port", "1").setting("datadir", "/a"), few().poolIdle("10000").setting("port", "2").setting("datadir", "/b"), none, kasoku.High)
}

func TestIdleControl_Silent(t *testing.T) {
	f := func(before, after *build, blind bool, part string) {
		t.Helper()
		found, silent := control(before, after)
		if len(found) != 0 || len(silent) != 1 || silent[0].Blind != blind || !strings.Contains(silent[0].Reason, part) {
			t.Errorf("%d findings, silences %+v; want blind %v and %q", len(found), silent, blind, part)
		}
	}
	few := func() *build { return ladder().fail(3, 560, 500, "500") }
	f(few().poolIdle("2"), ladder().fail(3, 500, 500, "500").poolIdle("1000"), false, "made a difference: success 94.4 % → 95.0 %")
	f(few().latency(3, 100*time.Millisecond, 0).poolIdle("2"), few().latency(3, 89*time.Millisecond, 0).poolIdle("1000"), false, "mean 100 ms → 89.0 ms")
	// A tenth faster on average, though in one second of three it is slower.
	shaky := few().poolIdle("1000").latency(3, 70*time.Millisecond, 0)
	for i := range shaky.Seconds {
		if s := &shaky.Seconds[i]; s.Step == 3 && s.Second%3 == 0 {
			s.Latency = spread(250*time.Millisecond, s.Asked)
		}
	}
	f(few().poolIdle("2").latency(3, 140*time.Millisecond, 0), shaky, false, "vary too much for an answer: success 94.4 % → 94.4 %, mean 140 ms → ")
	f(few().poolIdle("1000"), few().poolIdle("10000").setting("max_connections", "300"), false, "not all that changed: max_connections")
	f(few().poolIdle("1000"), few().poolIdle("1000"), false, "did not change")
	f(few(), few(), true, "was not recorded in both runs")
	f(few().poolIdle("1000"), few(), true, "was not recorded in both runs")
	// A time is not a number of connections.
	a, b := few(), few()
	a.Settings = append(a.Settings, kasoku.Setting{Scope: "app", Name: "ConnMaxIdleTime", Value: "1m"})
	b.Settings = append(b.Settings, kasoku.Setting{Scope: "app", Name: "ConnMaxIdleTime", Value: "2m"})
	f(a, b, true, "was not recorded")
	a, b = few().poolIdle("1"), few().poolIdle("2")
	b.Run.Revision = "main@2"
	f(a, b, false, "the code's revision")
	a, b = few().poolIdle("1"), few().poolIdle("2")
	a.Steps = a.Steps[:2]
	f(a, b, true, "no step at 1,000 req/s")
	a.Seconds = nil
	f(a, b, true, "not counted in both runs")
	found, silent := pool.IdleControl{}.Check(few().alone())
	if len(found) > 0 || !silent[0].Blind {
		t.Errorf("without a baseline: %+v %+v", found, silent)
	}
}
