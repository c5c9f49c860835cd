package cell

import (
	"math"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// Text is a cell of words.
func Text(s string) report.Cell { return report.Cell{Text: s} }

// None is a cell of what was not measured.
func None() report.Cell { return report.Cell{Text: unit.Missing, Raw: ""} }

// Count is an exact number.
func Count(n uint64) report.Cell {
	return report.Cell{Text: unit.Count(n), Raw: strconv.FormatUint(n, 10)}
}

// Number is a measured value.
func Number(v float64) report.Cell { return report.Cell{Text: unit.Sig3(v), Raw: report.RawNumber(v)} }

// Fixed1 is a measured value of which one decimal is wanted in each row.
func Fixed1(v float64) report.Cell {
	return report.Cell{Text: unit.Fixed(v, 1), Raw: report.RawNumber(v)}
}

// Percent is a ratio, printed in percent without the sign.
func Percent(ratio float64) report.Cell {
	return report.Cell{Text: unit.PercentCell(ratio), Raw: report.RawNumber(ratio)}
}

// Duration is a duration in the unit of its column; its raw value is in seconds.
func Duration(d, in time.Duration) report.Cell {
	return report.Cell{Text: unit.DurationIn(d, in), Raw: report.RawNumber(d.Seconds())}
}

// KnownNumber is [Number], or [None] where the value is not known.
func KnownNumber(v float64) report.Cell {
	if math.IsNaN(v) {
		return None()
	}
	return Number(v)
}

// KnownCount is [Count], or [None] where the value is not known.
func KnownCount(v float64) report.Cell {
	if math.IsNaN(v) || v < 0 {
		return None()
	}
	return Count(uint64(v))
}

// Size is an amount of memory in bytes, [None] where it is not known.
func Size(v float64) report.Cell {
	if math.IsNaN(v) || v < 0 {
		return None()
	}
	return report.Cell{Text: unit.BytesIEC(uint64(v)), Raw: report.RawNumber(v)}
}

// CommonUnit returns the unit that suits all the durations together: that of the longest.
func CommonUnit(ds ...time.Duration) time.Duration { return unit.Unit(unit.Longest(ds)) }

// AsDuration returns a number of seconds as a duration.
func AsDuration(sec float64) time.Duration { return time.Duration(sec * float64(time.Second)) }
