package vegeta

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

const textFormat = "Requests\t[total, rate, throughput]\t%d, %.2f, %.2f\n" +
	"Duration\t[total, attack, wait]\t%s, %s, %s\n" +
	"Latencies\t[min, mean, 50, 90, 95, 99, max]\t%s, %s, %s, %s, %s, %s, %s\n" +
	"Bytes In\t[total, mean]\t%d, %.2f\n" +
	"Bytes Out\t[total, mean]\t%d, %.2f\n" +
	"Success\t[ratio]\t%.2f%%\n" +
	"Status Codes\t[code:count]\t"

// WriteText writes the metrics as Vegeta's text report. Control characters in
// error messages, which come from servers, are escaped.
func WriteText(w io.Writer, m *Metrics) error {
	tw := newTable(w)
	l := &m.Latencies
	fmt.Fprintf(tw, textFormat,
		m.Requests, m.Rate, m.Throughput,
		roundDuration(m.Duration+m.Wait), roundDuration(m.Duration), roundDuration(m.Wait),
		roundDuration(l.Min), roundDuration(l.Mean), roundDuration(l.P50), roundDuration(l.P90), roundDuration(l.P95), roundDuration(l.P99), roundDuration(l.Max),
		m.BytesIn.Total, m.BytesIn.Mean,
		m.BytesOut.Total, m.BytesOut.Mean,
		m.Success*100,
	)
	for _, code := range slices.Sorted(maps.Keys(m.StatusCodes)) {
		fmt.Fprintf(tw, "%s:%d  ", code, m.StatusCodes[code])
	}
	fmt.Fprintln(tw, "\nError Set:")
	for _, e := range m.Errors {
		fmt.Fprintln(tw, printableText(e))
	}
	return tw.Flush()
}

// WriteHistogram writes the buckets of the metrics, which must have some.
func WriteHistogram(w io.Writer, m *Metrics) error {
	tw := newTable(w)
	fmt.Fprint(tw, "Bucket\t\t#\t%\tHistogram\n")
	for i, n := range m.Buckets.Counts {
		lo, hi := m.Buckets.name(i)
		bar, percent := m.Buckets.bar(i)
		fmt.Fprintf(tw, "[%s,\t%s]\t%d\t%.2f%%\t%s\n", lo, hi, n, percent, bar)
	}
	return tw.Flush()
}

// WriteHDRPlot writes the percentiles in the form that the plotter at
// hdrhistogram.github.io reads.
func WriteHDRPlot(w io.Writer, m *Metrics) error {
	tw := newTable(w)
	fmt.Fprint(tw, "Value(ms)\tPercentile\tTotalCount\t1/(1-Percentile)\n")
	for _, q := range plotQuantiles() {
		inverse := 10_000_000.0 // for 1, where it would be infinite
		if q < 1 {
			inverse = 1 / (1 - q)
		}
		count := int64(q*float64(m.Requests) + 0.5)
		fmt.Fprintf(tw, "%f\t%f\t%d\t%f\n", inMilliseconds(m.Latencies.Quantile(q)), q, count, inverse)
	}
	return tw.Flush()
}

// newTable returns a writer with Vegeta's settings. Its errors come from Flush.
func newTable(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.StripEscape)
}

// roundDuration rounds to the unit below the one that d is printed in.
func roundDuration(d time.Duration) time.Duration {
	units := [...]time.Duration{time.Hour, time.Minute, time.Second, time.Millisecond, time.Microsecond,
		time.Nanosecond}
	for i, u := range units[:len(units)-1] {
		if d >= u {
			return d.Round(units[i+1])
		}
	}
	return d
}

func inMilliseconds(d time.Duration) float64 {
	return float64(d/time.Millisecond) + float64(d%time.Millisecond)/1e6
}

// printableText escapes what is not printable, as Go writes it in a string, and
// leaves the rest, quotes included, alone.
func printableText(s string) string {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if bad(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plotQuantiles returns Vegeta's 94 quantiles, about evenly spaced on a scale
// of 1/(1-q).
func plotQuantiles() []float64 {
	return []float64{
		0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75,
		0.775, 0.8, 0.825, 0.85, 0.875, 0.8875,
		0.9, 0.9125, 0.925, 0.9375, 0.94375, 0.95, 0.95625, 0.9625, 0.96875,
		0.971875, 0.975, 0.978125, 0.98125, 0.984375, 0.985938, 0.9875, 0.989062,
		0.990625, 0.992188, 0.992969, 0.99375, 0.994531, 0.995313, 0.996094,
		0.996484, 0.996875, 0.997266, 0.997656, 0.998047, 0.998242, 0.998437,
		0.998633, 0.998828, 0.999023, 0.999121, 0.999219, 0.999316, 0.999414,
		0.999512, 0.999561, 0.999609, 0.999658, 0.999707, 0.999756, 0.99978,
		0.999805, 0.999829, 0.999854, 0.999878, 0.99989, 0.999902, 0.999915,
		0.999927, 0.999939, 0.999945, 0.999951, 0.999957, 0.999963, 0.999969,
		0.999973, 0.999976, 0.999979, 0.999982, 0.999985, 0.999986, 0.999988,
		0.999989, 0.999991, 0.999992, 0.999993, 0.999994, 0.999995, 0.999996,
		0.999997, 0.999998, 0.999999, 1,
	}
}
