package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
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

func (b *book) add(row, setting, program string, round int, figure string, value float64) {
	b.samples = append(b.samples, sample{row, setting, program, round, figure, value})
}

// get returns a figure by round, NaN where a round lacks it.
func (b *book) get(row, setting, program, figure string) []float64 {
	var out []float64
	for _, s := range b.samples {
		if s.row != row || s.setting != setting || s.program != program || s.figure != figure {
			continue
		}
		for len(out) <= s.round {
			out = append(out, math.NaN())
		}
		out[s.round] = s.value
	}
	return out
}

// tsv writes all figures, one a line.
func (b *book) tsv(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "row\tsetting\tprogram\tround\tfigure\tvalue")
	for _, s := range b.samples {
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%s\t%s\n", s.row, s.setting, s.program, s.round+1, s.figure, strconv.FormatFloat(s.value, 'g', -1, 64))
	}
	return out.Flush()
}
