package writeup

import "math"

// A Direction is where an effect goes.
type Direction string

// The directions.
const (
	Unknown Direction = ""
	Better  Direction = "better"
	Worse   Direction = "worse"
	Same    Direction = "no effect"
)

// Factor is how far the size of an effect may be from the published one.
const Factor = 3

// Ratios within which an effect may be either way, and above which one that was published has
// to be seen: two runs of one state differ by some percent, there and here.
const (
	noise = 1.05
	plain = 1.10
)

// An Effect is what a step did to one figure, against another step.
type Effect struct {
	Figure        Figure
	Step, Against string
	// Author and Here are how many times as good the figure became, above 1 better;
	// [Missing] where a figure is.
	Author, Here float64
	Expect       Direction // where Author is missing
	Differs      string
	Kept         string
}

// Effects returns what can be held against each other, in the order of the steps. got has
// the steps by name, as far as they were measured.
func (s *Story) Effects(got map[string]*Measured) []Effect {
	var out []Effect
	for i := range s.Steps {
		st := &s.Steps[i]
		for _, name := range st.Against {
			base := s.Step(name)
			for k, f := range s.Figures {
				e := Effect{
					Figure: f, Step: st.Name, Against: name, Differs: st.Differs,
					Author: f.gain(base.Of(k), st.Of(k)), Here: f.gain(got[name].Of(k), got[st.Name].Of(k)),
				}
				if k == 0 {
					e.Expect, e.Kept = st.Expect, st.Kept
					if st.Gain > 0 {
						e.Author = st.Gain
					}
				}
				if e.said() {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// said reports whether the author said something of the effect.
func (e *Effect) said() bool { return !math.IsNaN(e.Author) || e.Expect != Unknown }

// gain is how many times as good a figure became.
func (f Figure) gain(before, after float64) float64 {
	if f.Less {
		before, after = after, before
	}
	if math.IsNaN(before) || math.IsNaN(after) || before <= 0 || after < 0 {
		return Missing // how many times nothing is has no answer
	}
	return after / before
}

// directionOf is where a gain goes.
func directionOf(gain float64) Direction {
	switch {
	case math.IsNaN(gain):
		return Unknown
	case gain > noise:
		return Better
	case gain < 1/noise:
		return Worse
	}
	return Same
}

// A Verdict is how an effect here compares with the published one.
type Verdict string

// The verdicts.
const (
	Open     Verdict = "not measured"
	AsThere  Verdict = "as there"
	Smaller  Verdict = "smaller" // the same direction, less than a third of it
	Larger   Verdict = "larger"  // the same direction, over three times it
	Nothing  Verdict = "no effect"
	OtherWay Verdict = "the other way"
)

// Verdict compares the effect here with the published one.
func (e *Effect) Verdict() Verdict {
	here, there := directionOf(e.Here), directionOf(e.Author)
	if there == Unknown {
		there = e.Expect
	}
	switch {
	case here == Unknown || there == Unknown:
		return Open
	case here == there && here == Same:
		return AsThere
	case math.IsNaN(e.Author) && here != there, !math.IsNaN(e.Author) && (e.Here > 1) != (e.Author > 1) &&
		here != Same:
		return OtherWay
	case here == Same && (math.IsNaN(e.Author) || math.Max(e.Author, 1/e.Author) > plain || (e.Here > 1) != (e.Author > 1)):
		return Nothing
	case e.Here > Factor*e.Author || e.Here*Factor < e.Author: // neither, of no published size
		if math.Abs(math.Log(e.Here)) > math.Abs(math.Log(e.Author)) {
			return Larger
		}
		return Smaller
	}
	return AsThere
}

// Holds reports whether the effect is what the write-up says, or one of which the table says
// why it may differ.
func (e *Effect) Holds() bool {
	switch v := e.Verdict(); v {
	case AsThere:
		return true
	case Open:
		return false
	default:
		return e.Differs != ""
	}
}
