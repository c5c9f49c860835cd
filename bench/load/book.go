package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/internal/unit"
)

// A sample is one figure of one run of a program. Its name says the unit.
type sample struct {
	row, setting, program string
	round                 int
	figure                string
	value                 float64
}

// A book holds all figures that were measured.
type book struct{ samples []sample }

func (b *book) add(at place, program string, round int, figure string, value float64) {
	b.samples = append(b.samples, sample{at.row, at.setting, program, round, figure, value})
}

// get returns a figure by round, NaN where a round lacks it.
func (b *book) get(at place, program, figure string) []float64 {
	var out []float64
	for _, s := range b.samples {
		if s.row != at.row || s.setting != at.setting || s.program != program || s.figure != figure {
			continue
		}
		for len(out) <= s.round {
			out = append(out, math.NaN())
		}
		out[s.round] = s.value
	}
	return out
}

func (b *book) median(at place, program, figure string) float64 {
	return middleValue(b.get(at, program, figure))
}

// paired returns a program's figure in units of that of another program of the
// same round.
func (b *book) paired(at place, program, figure string, base place, unit string) []float64 {
	return ratiosOf(b.get(at, program, figure), b.get(base, unit, figure))
}

// arrived returns, as text, which share of the requests that were asked for came.
func (b *book) arrived(at place, program string) string {
	got, asked := b.get(at, program, "requests"), b.get(at, program, "asked")
	return unit.PercentCell(middleValue(ratiosOf(got, asked)))
}

// met returns the programs of which a place has figures, in the order in which
// they came first.
func (b *book) met(at place) []string {
	var out []string
	for _, s := range b.samples {
		if s.row == at.row && s.setting == at.setting && !slices.Contains(out, s.program) {
			out = append(out, s.program)
		}
	}
	return out
}

// tsv writes all figures, one a line.
func (b *book) tsv(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "row\tsetting\tprogram\tround\tfigure\tvalue")
	for _, s := range b.samples {
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%s\t%s\n", s.row, s.setting, s.program, s.round+1, s.figure,
			strconv.FormatFloat(s.value, 'g', -1, 64))
	}
	return out.Flush()
}
