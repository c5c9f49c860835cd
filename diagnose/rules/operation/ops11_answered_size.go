package operation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// AnsweredSize is the rule OPS-11.
type AnsweredSize struct{}

// Thresholds of OPS-11.
const (
	// fewRises of a benchmark's level are too few to say whether the load follows them.
	fewRises = 6
	// risen is how many times its middle level the last one is at least, leastRise of time later.
	risen     = 2
	leastRise = 2 * time.Second
	// aside is how long the requests are counted before the middle level and after the last.
	aside = 5 * time.Second
	// followed is how many times as many requests come after the last level as before the middle one where the load
	// follows: a load that is twice as great brings more than that.
	followed = 1.2
	// fewAnswers in one of these stretches say too little: their count varies by a tenth.
	fewAnswers = 100
	// greatest is the greatest number that looks like one of how many: dates and addresses are greater.
	greatest = 100_000
)

// notSizes are words in names of numbers that say how initialize went, not how much is asked for.
var notSizes = []string{"status", "code", "error", "err", "success", "ok", "result", "version", "port", "time",
	"timestamp", "elapsed", "took", "duration", "second", "sec", "millis", "ms", "ns", "date", "year", "month", "at",
	"epoch", "seed", "pid", "id"}

// ID returns OPS-11.
func (AnsweredSize) ID() string { return "OPS-11" }

// Doc describes the rule.
func (AnsweredSize) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `names a number in the answer of initialize that may keep a benchmark's load small while nothing is
			busy.`,
		Evidence: `the benchmark handed over what initialize answered, which has a number that is neither a state nor
			a time; its level doubled in six steps, and less than 1.2 times as many requests came after the
			last one as before the middle one; the busiest host used less than half of its CPU, no program 0.8
			of a core, no disk was busy for half of the time, and less than 5 % of the requests' time went
			to locks of rows, to commits, or to the pool of connections. It is a remark.`,
		Cause: `some contests let the service say how much it can take, and bring no more load than that.`,
		Fix:   `a greater number, where the benchmark's manual says that it reads it, a step at a time.`,
		Silent: `where the load follows the levels, something is busy, or requests wait for locks or connections.
			Blind where the benchmark hands over neither what initialize answered nor its levels, as one that
			kasoku only starts.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// An answeredNumber is one number of the answer of initialize.
type answeredNumber struct {
	request, name, value string
	number               float64
	at                   time.Duration
}

// Check looks for a number in the answer of a run whose load does not follow its levels.
func (r AnsweredSize) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	numbers, known := answeredNumbers(c)
	if !known {
		return nil, diagnose.Blind(r.ID(), errors.New("what initialize answered was not handed over by the benchmark"))
	}
	if len(numbers) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "initialize answered no number that may be a size of the load")
	}
	l, err := levelsOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if l.before < fewAnswers || l.after < fewAnswers {
		few := min(l.before, l.after)
		return nil, diagnose.Quiet(r.ID(), float64(few)/fewAnswers,
			"%s in %s of load say too little; the threshold is %d",
			unit.Counted(few, "request", "requests"), aside, fewAnswers)
	}
	if growth := l.growth(); growth >= followed {
		return nil, diagnose.Quiet(r.ID(), min(followed/growth, 0.99), "from level %d to %d the requests became %s "+
			"times as many; the threshold is %s",
			l.middle.number, l.last.number, unit.Sig3(growth), unit.Sig3(followed))
	}
	idle, why, near, err := evidence.IdleOf(c)
	switch {
	case err != nil:
		return nil, diagnose.Blind(r.ID(), err)
	case why != "":
		return nil, diagnose.Quiet(r.ID(), near, "%s", why)
	}
	return []kasoku.Finding{r.finding(c, numbers, l, idle)}, nil
}

// answeredNumbers returns the numbers of the last answer of initialize that may be sizes; known: there was one.
func answeredNumbers(c *diagnose.Case) (out []answeredNumber, known bool) {
	for i := range c.Events {
		e := &c.Events[i]
		if e.Kind != kasoku.EventInitialize || e.At >= c.Focus.Interval.To {
			continue
		}
		request, text, _ := strings.Cut(e.Text, ": ")
		known, out = true, nil
		for one := range strings.SplitSeq(text, ", ") {
			name, value, _ := strings.Cut(one, " ")
			n, err := strconv.ParseFloat(value, 64)
			if err != nil || !(n >= 0 && n <= greatest) || n != float64(int64(n)) || !mayBeSize(name) {
				continue
			}
			out = append(out, answeredNumber{request, name, value, n, e.At})
		}
	}
	return out, known
}

// longestName is how long the name of a number is at most.
const longestName = 40

// mayBeSize reports whether a name is a plain one of which no word says that it is something else.
func mayBeSize(name string) bool {
	odd := func(c rune) bool { return !strings.ContainsRune("_-.", c) && !isAlphanumeric(c) }
	if name == "" || len(name) > longestName || strings.IndexFunc(name, odd) >= 0 {
		return false
	}
	return !slices.ContainsFunc(wordsOf(name), func(w string) bool {
		return slices.Contains(notSizes, w) || slices.Contains(notSizes, strings.TrimSuffix(w, "s"))
	})
}

func isAlphanumeric(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// wordsOf returns the words of a name such as available_days or statusCode, in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool { return strings.ContainsRune("_-.", c) })
}

// A rise is the beginning of a level.
type rise struct {
	number int
	at     time.Duration
}

// Levels are the middle and the last level of a benchmark, and how many requests came in the whole seconds before the
// one and after the other.
type levels struct {
	middle, last  rise
	before, after uint64
	seconds       [2]int
}

// growth is by how many times the requests a second grew.
func (l levels) growth() float64 {
	return float64(l.after) / float64(max(l.seconds[1], 1)) / max(float64(l.before)/float64(max(l.seconds[0], 1)), 0.01)
}

// levelsOf finds the levels of the focus's load.
func levelsOf(c *diagnose.Case) (l levels, err error) {
	var rises []rise
	for i := range c.Events {
		e := &c.Events[i]
		text, ok := strings.CutPrefix(e.Text, "level ")
		if e.Kind != kasoku.EventLevel || !ok || !c.Focus.Interval.Contains(e.At) {
			continue
		}
		text, _, _ = strings.Cut(text, " ")
		if n, err := strconv.Atoi(text); err == nil && (len(rises) == 0 || n > rises[len(rises)-1].number) {
			rises = append(rises, rise{n, e.At})
		}
	}
	if len(rises) < fewRises {
		return l, fmt.Errorf("the benchmark's level rose %s: whether its load follows is not known; the threshold is %d",
			unit.Counted(uint64(len(rises)), "time", "times"), fewRises)
	}
	l.last = rises[len(rises)-1]
	for _, r := range rises {
		if r.number*risen <= l.last.number {
			l.middle = r
		}
	}
	if l.last.at-l.middle.at < leastRise {
		return l, fmt.Errorf("the benchmark's level rose from %d to %d within %s: whether its load follows is not known",
			l.middle.number, l.last.number, unit.Duration(l.last.at-l.middle.at))
	}
	counts, _ := c.BySecond()
	load := c.Focus.Interval
	before := kasoku.Interval{From: max(l.middle.at-aside, load.From), To: l.middle.at}
	after := kasoku.Interval{From: l.last.at, To: min(l.last.at+aside, load.To)}
	l.before, l.seconds[0] = requestsIn(counts, before)
	l.after, l.seconds[1] = requestsIn(counts, after)
	return l, nil
}

// requestsIn counts the requests of the whole seconds in an interval.
func requestsIn(counts map[int]uint64, in kasoku.Interval) (n uint64, seconds int) {
	for s := int((in.From + time.Second - 1) / time.Second); time.Duration(s+1)*time.Second <= in.To; s++ {
		n += counts[s]
		seconds++
	}
	return n, seconds
}

func (r AnsweredSize) finding(c *diagnose.Case, numbers []answeredNumber, l levels, idle evidence.Idle) kasoku.Finding {
	first := &numbers[0]
	names := make([]string, 0, len(numbers))
	for _, n := range numbers {
		names = append(names, n.name+" = "+n.value)
	}
	said := wording.List(names, 3)
	rate := func(n uint64, seconds int) string {
		return unit.Sig3(float64(n)/float64(max(seconds, 1))) + "/s"
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: first.request}, Severity: kasoku.Info,
		Title:  wording.Cut("The CPU has room, and initialize answers "+said, wording.MaxTitle),
		Clause: "initialize answers " + said + ", which may keep the load small",
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: len(numbers) == 1, Lacks: "the answer has several numbers"},
			diagnose.Signal{Blind: "whether the benchmark reads the number is in its manual"}, idle.Signal()),
		Evidence: []kasoku.Evidence{
			{Source: "benchmark", Text: first.request + " answered", Value: said, Number: first.number, Strong: true,
				Interval: kasoku.Interval{From: first.at, To: first.at}},
			{Source: "access", Text: fmt.Sprintf("requests after level %d", l.last.number),
				Note:  fmt.Sprintf("%s before level %d", rate(l.before, l.seconds[0]), l.middle.number),
				Value: rate(l.after, l.seconds[1]), Number: float64(l.after), Strong: true,
				Interval: kasoku.Interval{From: l.middle.at, To: l.last.at}},
			idle.Quote(c),
		},
		Cause: fmt.Sprintf("The benchmark went from level %d to %d, and as many requests came as before; of what was recorded "+
			"nothing holds them up: %s. %s answers %s, which the program chooses itself. Where the benchmark reads that as "+
			"how much the service can take, it brings no more.",
			l.middle.number, l.last.number, idle.Words(), first.request, said),
		Fixes: []kasoku.Fix{{
			Text: "See in the benchmark's manual whether it reads " + first.name +
				", and answer a greater number if it does",
			Where: "the handler of " + first.request, Risk: kasoku.RiskAppRestart,
			Note: "A step at a time, with several runs each: beyond what the service can take requests time out, and a run " +
				"that fails is worth nothing. Where the number says what the data hold, the data must hold as much.",
		}},
		Expect:   "more requests as the level rises, until something is busy",
		Verify:   "repeat the load: more requests come each second, and all runs pass",
		Interval: c.Focus.Interval,
	}
}
