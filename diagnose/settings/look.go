package settings

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// A check looks at one thing.
type check struct {
	id        string
	area      string
	title     string // what is looked at
	formula   string
	threshold string
	weight    int // 1 the server fails or waits, 2 it does needless work, 3 good to know
	needs     []Part
	// scored: a run counts what the variable's value costs, and its score shows it.
	scored bool
	// absent says why there is nothing to look at on this server; empty or nil
	// when there is.
	absent func(*state) string
	run    func(*look)
}

// A look is one check at work.
type look struct {
	readings
	check  *check
	quiet  *Quiet
	advice []ranked
	blind  *Unseen
}

// A ranked advice has its place in the list.
type ranked struct {
	kasoku.Advice
	weight int
}

// well says that there is nothing to do.
func (l *look) well(format string, args ...any) {
	l.quiet = &Quiet{l.check.id, l.check.title, l.check.formula, fmt.Sprintf(format, args...), l.check.threshold}
}

// blindly reports that the check could not look.
func (l *look) blindly(why, grant string) {
	switch {
	case l.blind != nil:
	case l.distrusted != "": // what was read first goes first
		l.blind = &Unseen{l.check.id, l.check.title, l.distrusted, ""}
	default:
		l.blind = &Unseen{l.check.id, l.check.title, why, grant}
	}
}

// A found is what a check found to do.
type found struct {
	title    string
	measured string
	formula  string // instead of the check's
	limit    string // instead of the check's threshold
	level    kasoku.Level
	counted  bool // rests on counters: worth less before they have seen usual work
	weight   int  // instead of the check's
	changes  []change
	gain     string
	price    string
	note     string
}

// A change is a variable with its new value.
type change struct{ name, value string }

// Now is the window of advice that rests on no counters.
const Now = "now"

// fire adds what was found: one advice for each variable, one without a variable
// when there is none.
func (l *look) fire(f found) {
	a := kasoku.Advice{
		Host: l.Host, ID: l.check.id, Area: l.check.area, Title: f.title, Measured: f.measured,
		Formula: l.check.formula, Threshold: l.check.threshold, Window: l.over(),
		Confidence: l.confidence(f), Gain: f.gain, Price: f.price, Note: f.note, Risk: kasoku.RiskNone,
	}
	if f.formula != "" {
		a.Formula = f.formula
	}
	if f.limit != "" {
		a.Threshold = f.limit
	}
	if !f.counted {
		a.Window = Now
	}
	weight := l.check.weight
	if f.weight > 0 {
		weight = f.weight
	}
	for _, c := range f.changes {
		b := a
		b.Variable, b.Value, b.Proposed = c.name, l.Variables[c.name], c.value
		b.SetGlobal, b.ConfLine, b.Risk = l.setGlobal(c.name, c.value), l.confLine(c.name, c.value), l.riskOf(c.name)
		l.advice = append(l.advice, ranked{b, weight})
	}
	if len(f.changes) == 0 {
		l.advice = append(l.advice, ranked{a, weight})
	}
}

// confidence is lower where the counters may not have seen usual work.
func (l *look) confidence(f found) kasoku.Confidence {
	c := kasoku.Confidence{Level: f.level, Holds: 1, Of: 1}
	if c.Level == "" {
		c.Level = kasoku.Medium
	}
	if !f.counted {
		return c
	}
	c.Of = 2
	if l.settled() {
		c.Holds = 2
		return c
	}
	c.Note = "the figures are of " + strings.TrimPrefix(l.over(), "since the server was started, ") + " only"
	switch c.Level {
	case kasoku.High:
		c.Level = kasoku.Medium
	default:
		c.Level = kasoku.Low
	}
	return c
}

// to decides a variable: it shall have that value. There is no change when it has
// it, when the server has no such variable, or when another check has decided it.
func (l *look) to(name, value string) []change {
	present, ok := l.Variables[name]
	if !ok || sameValue(present, value) {
		return nil
	}
	if _, taken := l.decided[name]; taken {
		return nil
	}
	l.decided[name] = decision{value, l.check.id}
	return []change{{name, value}}
}

// raise decides a variable that shall be at least so much.
func (l *look) raise(name string, least float64) []change {
	if v, ok := l.number(name); !ok || v >= least {
		return nil
	}
	return l.to(name, wholeWords(least))
}

// lower decides a variable that shall be at most so much.
func (l *look) lower(name string, most float64) []change {
	if v, ok := l.number(name); !ok || v <= most {
		return nil
	}
	return l.to(name, wholeWords(most))
}

// sameValue reports whether two values of a variable are one.
func sameValue(a, b string) bool {
	if x, ok := parseNumber(a); ok {
		if y, ok := parseNumber(b); ok {
			return x == y
		}
	}
	return strings.EqualFold(a, b) || on(a) && on(b) || off(a) && off(b)
}

func off(value string) bool {
	switch strings.ToUpper(value) {
	case "OFF", "0", "NO", "FALSE":
		return true
	}
	return false
}

// unaffordable describes why nothing is proposed that takes more memory.
func (l *look) unaffordable(share float64) string {
	if l.Memory.RAM == 0 {
		why := "the memory of the database's host is unknown"
		if lack := l.lack(PartMemory); lack != nil {
			why = lack.Why
		}
		return "Nothing that takes more memory is proposed: " + why + "; give --ram."
	}
	return fmt.Sprintf("More would take over %s of the %s that others leave the server.", unit.Percent(share),
		sizeWords(l.Memory.left()))
}

// look runs the check.
func (c *check) look(s *state) *look {
	l := &look{readings: readings{state: s}, check: c}
	if lack := s.lack(PartVariables); lack != nil {
		l.blindly(lack.Why, lack.Grant)
		return l
	}
	if c.absent != nil {
		if why := c.absent(s); why != "" {
			l.well("%s", why)
			return l
		}
	}
	for _, p := range c.needs {
		if lack := s.lack(p); lack != nil {
			l.blindly(lack.Why, lack.Grant)
			return l
		}
	}
	before := len(s.decided)
	c.run(l)
	if l.distrusted != "" {
		l.blindly(l.distrusted, "")
	}
	if lack := s.lack(PartStatus); len(l.missing) > 0 && lack != nil {
		l.blindly(lack.Why, lack.Grant)
	}
	if len(l.missing) > 0 && l.blind == nil {
		l.blindly("the server does not report "+strings.Join(withoutRepeats(l.missing), ", "), "")
	}
	if l.blind != nil && len(s.decided) > before {
		for name, d := range s.decided {
			if d.check == c.id {
				delete(s.decided, name)
			}
		}
	}
	if l.blind == nil && l.quiet == nil && len(l.advice) == 0 {
		l.well("nothing to do")
	}
	return l
}

func withoutRepeats(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
