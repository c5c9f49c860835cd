package report

import (
	"github.com/kasoku/kasoku/internal/unit"
	"math"
	"strconv"
	"time"
)

// text is a cell of words.
func text(s string) Cell { return Cell{Text: s} }

// none is a cell of what was not measured.
func none() Cell { return Cell{Text: unit.Missing, Raw: ""} }

// count is an exact number.
func count(n uint64) Cell { return Cell{Text: unit.Count(n), Raw: strconv.FormatUint(n, 10)} }

// number is a measured value.
func number(v float64) Cell { return Cell{Text: unit.Sig3(v), Raw: raw(v)} }

// fixed1 is a measured value of which one decimal is wanted in each row.
func fixed1(v float64) Cell { return Cell{Text: unit.Fixed(v, 1), Raw: raw(v)} }

// percent is a ratio, printed in percent without the sign.
func percent(ratio float64) Cell { return Cell{Text: unit.PercentCell(ratio), Raw: raw(ratio)} }

// duration is a duration in the unit of its column; its raw value is in seconds.
func duration(d, in time.Duration) Cell {
	return Cell{Text: unit.DurationIn(d, in), Raw: raw(d.Seconds())}
}

// numberOf is number, none where the value is not known.
func numberOf(v float64) Cell {
	if math.IsNaN(v) {
		return none()
	}
	return number(v)
}

// countOf is an exact number, none where it is not known.
func countOf(v float64) Cell {
	if math.IsNaN(v) || v < 0 {
		return none()
	}
	return count(uint64(v))
}

// sizeOf is an amount of memory, none where it is not known.
func sizeOf(v float64) Cell {
	if math.IsNaN(v) || v < 0 {
		return none()
	}
	return Cell{Text: unit.BytesIEC(uint64(v)), Raw: raw(v)}
}

// longest returns the unit that suits all the durations together.
func commonUnit(ds ...time.Duration) time.Duration { return unit.Unit(unit.Longest(ds)) }

func asDuration(sec float64) time.Duration { return time.Duration(sec * float64(time.Second)) }
