package kataribe

import (
	"bufio"
	"fmt"
	"math"
	"strconv"

	"github.com/kasoku/kasoku/logs"
)

// A column is one of those of a ranking.
type column struct {
	title string
	width int // for the values; a title may be longer and pushes what follows
	text  func(*row) string
}

// print writes the rankings and the slowest requests.
func (r *result) print(w *bufio.Writer, p *plan) {
	for _, k := range p.rankings() {
		fmt.Fprintf(w, "Top %d Sort By %s\n", p.RankingCount, k.title)
		rows := r.rank(k.by, p.RankingCount)
		columns := p.columns(rows)
		for _, c := range columns {
			fmt.Fprintf(w, "%*s  ", c.width, c.title)
		}
		w.WriteString("Request\n")
		for _, row := range rows {
			for _, c := range columns {
				fmt.Fprintf(w, "%*s  ", c.width, c.text(row))
			}
			w.Write(logs.AppendVisible(w.AvailableBuffer(), row.name))
			w.WriteByte('\n')
		}
		w.WriteByte('\n')
	}
	r.printSlow(w, p)
}

func (r *result) printSlow(w *bufio.Writer, p *plan) {
	count := min(p.SlowCount, int(r.n))
	fmt.Fprintf(w, "TOP %d Slow Requests\n", count)
	list := r.slow.List()
	if len(list) == 0 {
		return
	}
	rank := len(strconv.Itoa(count))
	width := durationWidth(list[0].Value, p.EffectiveDigit)
	for i, s := range list {
		fmt.Fprintf(w, "%*d  %*.*f  %s\n", rank, i+1, width, p.EffectiveDigit, s.Value,
			logs.AppendVisible(nil, s.Item))
	}
}

// columns returns the columns for the rows of one ranking, as wide as their
// largest values; deviations are as wide as means, and percentiles as maxima.
func (p *plan) columns(rows []*row) []column {
	var n, total, mean, longest, maxBytes, bytes float64
	var status [6]float64
	for _, r := range rows {
		n, total, mean = math.Max(n, float64(r.n)), math.Max(total, r.total), math.Max(mean, r.mean)
		longest = math.Max(longest, r.max)
		bytes, maxBytes = math.Max(bytes, float64(r.bytes)), math.Max(maxBytes, float64(r.maxBytes))
		for i, s := range r.status {
			status[i] = math.Max(status[i], float64(s))
		}
	}
	digit := p.EffectiveDigit
	integer := func(title string, widest float64, least int, of func(*row) int64) column {
		return column{title, max(least, digitsOf(widest)), func(r *row) string { return strconv.FormatInt(of(r), 10) }}
	}
	duration := func(title string, widest float64, decimals int, of func(*row) float64) column {
		return column{title, durationWidth(widest, decimals),
			func(r *row) string { return strconv.FormatFloat(of(r), 'f', decimals, 64) }}
	}
	out := []column{
		integer("Count", n, 5, func(r *row) int64 { return int64(r.n) }),
		duration("Total", total, digit, func(r *row) float64 { return r.total }),
		duration("Mean", mean, digit+1, func(r *row) float64 { return r.mean }),
	}
	if p.ShowStdDev {
		out = append(out, duration("Stddev", mean, digit+1, func(r *row) float64 { return r.stddev }))
	}
	out = append(out, duration("Min", longest, digit, func(r *row) float64 { return r.min }))
	for i, pc := range p.Percentiles {
		out = append(out, duration(fmt.Sprintf("P%2.1f", pc), longest, digit,
			func(r *row) float64 { return r.percentiles[i] }))
	}
	out = append(out, duration("Max", longest, digit, func(r *row) float64 { return r.max }))
	if p.ShowStatusCode {
		for i := 2; i <= 5; i++ {
			out = append(out, integer(fmt.Sprintf("%dxx", i), status[i], 3,
				func(r *row) int64 { return int64(r.status[i]) }))
		}
	}
	if p.ShowBytes {
		out = append(out,
			integer("TotalBytes", bytes, 10, func(r *row) int64 { return r.bytes }),
			integer("MinBytes", maxBytes, 9, func(r *row) int64 { return r.minBytes }),
			integer("MeanBytes", maxBytes, 9, func(r *row) int64 { return r.bytes / int64(r.n) }),
			integer("MaxBytes", maxBytes, 9, func(r *row) int64 { return r.maxBytes }))
	}
	return out
}

// digitsOf returns how many digits the integer part of v has, by its logarithm.
func digitsOf(v float64) int {
	if !(v >= 1) || math.IsInf(v, 0) {
		return 1
	}
	return int(math.Log10(v)) + 1
}

func durationWidth(v float64, decimals int) int { return digitsOf(v) + 1 + decimals }
