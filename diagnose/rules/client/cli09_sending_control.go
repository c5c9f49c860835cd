package client

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// SendingControl is the rule CLI-09.
type SendingControl struct{}

// Thresholds of CLI-09.
const (
	idleClient = 0.30 // of a core
	tooNoisy   = 0.10 // of what is gained a second: what is within so much shows nothing
	moved      = 0.02 // of what is gained a second: less is no effect, whatever its noise
)

// ID returns CLI-09.
func (SendingControl) ID() string { return "CLI-09" }

// Doc describes the rule.
func (SendingControl) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that a change of a client which hardly computes had no effect.`,
		Evidence: `against the baseline settings of the application or flags of its command are all that changed;
			what the client gains a second, as it publishes over expvar (Gained), rose by no more than 2 %, or
			than twice the noise of the seconds, which is a tenth at most, and fell by no more; and in both runs the client took at most 30 % of a core.`,
		Cause: `the client waits for the service for nearly all of its time: another library, another encoding, a pool
			of connections of its own make the rest of it faster.`,
		Fix: `put it back, and look for the limit in the service: what it lets in, and what its time goes to.`,
		Silent: `without a baseline, when nothing changed of the client or something else did, such as its duration or seed, when more
			or less was gained, when the client computed more; blind when it publishes nothing of the kind.`,
	}
}

// A sending is how a client did in one run.
type sending struct {
	seen   seen
	perSec float64 // gained
	noise  float64 // of the mean, one standard error
	cores  float64
}

// Check compares the run with its baseline.
func (r SendingControl) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoBaseline)
	}
	before, err := sendingOf(diagnose.NewCase(c.Baseline, nil))
	if err != nil {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("the baseline: %w", err))
	}
	after, err := sendingOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	changed, others := clientChanges(c.Baseline, c.Recording)
	gain := after.perSec/before.perSec - 1
	bound := max(moved, 2*math.Hypot(before.noise, after.noise)/before.perSec)
	cores := max(before.cores, after.cores)
	switch {
	case len(changed) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "nothing changed of the client")
	case len(others) > 0:
		return nil, diagnose.Quiet(r.ID(), 1/float64(1+len(others)), "the client was not all that changed: %s",
			wording.List(others, 3))
	case gain > bound:
		return nil, diagnose.Quiet(r.ID(), bound/gain, "%s more was gained a second; the threshold is %s",
			unit.Percent(gain),
			unit.Percent(bound))
	case gain < -bound:
		return nil, diagnose.Quiet(r.ID(), 0.5, "the change made it worse: %s less was gained a second",
			unit.Percent(-gain))
	case bound > tooNoisy:
		return nil, diagnose.Quiet(r.ID(), tooNoisy/bound, "the seconds differ too much for an answer: ± %s; the threshold "+
			"is %s", unit.Percent(bound), unit.Percent(tooNoisy))
	case cores > idleClient:
		return nil, diagnose.Quiet(r.ID(), idleClient/cores, "the client took %s of a core; the threshold is %s",
			unit.Percent(cores), unit.Percent(idleClient))
	}
	return []kasoku.Finding{r.finding(changed, &before, &after, gain, bound)}, nil
}

func (r SendingControl) finding(changed []string, before, after *sending, gain, bound float64) kasoku.Finding {
	title := "The changed client shows no effect: it is not the limit"
	s := &after.seen
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(), Title: title, Severity: kasoku.Info,
		Impact: kasoku.Impact{Of: "of the client's requests"},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: s.interval.Len().Seconds() >= evidence.EnoughSeconds,
				Lacks: "only " + unit.Elapsed(s.interval.Len())}),
		Evidence: []kasoku.Evidence{
			{Source: "var", Text: wording.List(changed, 3), Value: "changed", Strong: true},
			s.quote(expvar.Gained, "gained a second, noise ± "+unit.Percent(bound),
				unit.Sig3(before.perSec)+" → "+unit.Sig3(after.perSec), gain),
			{Source: "command", Text: "CPU of the client",
				Value: unit.Percent(before.cores) + " → " + unit.Percent(after.cores) +
					" of a core", Number: after.cores, Strong: true, Interval: s.interval},
		},
		Cause: fmt.Sprintf("Only the client changed (%s), and what it gains went from %s to %s a second: it took %s of a core "+
			"before, and %s after, and waited for the service for the rest.", wording.List(changed, 3),
			unit.Sig3(before.perSec),
			unit.Sig3(after.perSec), unit.Percent(before.cores), unit.Percent(after.cores)),
		Fixes: []kasoku.Fix{{
			Text: "Put it back, and look at what the service lets in and what its time goes to", Where: "the client",
			Risk: kasoku.RiskNone, Note: "One run a side: repeat both to separate a small effect from noise.",
		}},
		Expect: "the same figures", Verify: "repeat the load with the old client and compare", Interval: s.interval,
	}
}

// sendingOf reads what a client gained each second, and what it took of a core.
func sendingOf(c *diagnose.Case) (x sending, err error) {
	if x.seen, err = seenOf(c); err != nil {
		return x, err
	}
	gained := beside(c, x.seen.key, expvar.Gained)
	command := c.Recording.Run.Command
	switch {
	case gained == nil || len(gained.Points) < 3 || grown(gained) <= 0:
		return x, errors.New("the client does not say what it gained")
	case command == nil || command.Wall <= 0:
		return x, errors.New("the client is not the run's command, whose CPU is known")
	}
	x.cores = float64(command.User+command.System) / float64(command.Wall)
	n, sum, squares := 0.0, 0.0, 0.0
	for i := 1; i < len(gained.Points); i++ {
		a, b := gained.Points[i-1], gained.Points[i]
		if over := (b.At - a.At).Seconds(); over > 0 && b.Value >= a.Value {
			v := (b.Value - a.Value) / over
			n, sum, squares = n+1, sum+v, squares+v*v
		}
	}
	if n < 2 || sum <= 0 {
		return x, errors.New("the client does not say what it gained")
	}
	x.perSec = sum / n
	x.noise = math.Sqrt(max(squares/n-x.perSec*x.perSec, 0) / (n - 1))
	return x, nil
}

// clientChanges are the settings of the application and the flags of the command that differ,
// and what else does. Addresses differ between any two runs.
func clientChanges(a, b *kasoku.Recording) (changed, others []string) {
	before, after := evidence.SettingsOf(a), evidence.SettingsOf(b)
	note := func(s evidence.SettingName) {
		switch {
		case s.Scope == "command" && (s.Name == "--target" || s.Name == "--vars"):
		case s.Scope == "command" && slices.Contains([]string{"--duration", "--seed"}, s.Name):
			others = append(others, s.Name) // another game
		case s.Scope == "command" || s.Scope == "app":
			changed = append(changed, s.Name)
		default:
			others = append(others, s.Name)
		}
	}
	for _, s := range after.Order {
		if was, ok := before.Value[s]; !ok || was != after.Value[s] {
			note(s)
		}
	}
	for _, s := range before.Order {
		if _, ok := after.Value[s]; !ok {
			note(s)
		}
	}
	if a.Run.Revision != b.Run.Revision {
		others = append(others, "the code's revision")
	}
	return changed, others
}
