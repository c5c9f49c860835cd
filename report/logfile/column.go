package logfile

import (
	"math"
	"strconv"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// A measure is what a column of a log's table holds, and so in which unit it is
// printed.
type measure uint8

// The measures.
const (
	isKey     measure = iota // part of the row's key
	isCount                  // requests
	isLatency                // of one request; all such columns share a unit
	isTotal                  // request times added up
	isSize                   // bytes
	isRatio                  // of the whole
	isRate                   // per second
	isMoment                 // when
	isStrip                  // requests over time, drawn
)

// A column is a column that the table T of a log can have, of its rows R. A value is in
// base units: seconds, bytes, requests; it is NaN where the log does not say.
type column[T, R any] struct {
	name    string // of --columns and --sort
	head    string
	unit    string // under the head, where it is no unit of time
	key     string // for machines
	measure measure
	drop    int
	extra   bool // for machines only
	value   func(t T, r R) float64
	part    int // of the row's key
}

// cell prints a value in the unit of the column.
func (c *column[T, R]) cell(v float64, u scale) report.Cell {
	if math.IsNaN(v) {
		return cell.None()
	}
	switch c.measure {
	case isCount:
		return report.Cell{Text: unit.Count(uint64(v)), Raw: strconv.FormatUint(uint64(v), 10)}
	case isLatency, isTotal:
		return report.Cell{Text: unit.DurationIn(cell.AsDuration(v), u.time), Raw: report.RawNumber(v)}
	case isSize:
		if v == math.Trunc(v) {
			return report.Cell{Text: sizeIn(v, u), Raw: strconv.FormatFloat(v, 'f', 0, 64)}
		}
		return report.Cell{Text: sizeIn(v, u), Raw: report.RawNumber(v)}
	case isRatio:
		return cell.Percent(v)
	}
	return cell.Number(v)
}
