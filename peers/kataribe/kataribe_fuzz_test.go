package kataribe

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// FuzzReport: any log in any of the formats: no panic, and every line is a
// request, blank, or told as dropped.
func FuzzReport(f *testing.F) {
	for i := range formats {
		f.Add(uint8(i), makeLog(i, 20, 1))
	}
	f.Add(uint8(0), "\x00\xff\n\n\r\n\x1b[2J")
	f.Fuzz(func(t *testing.T, format uint8, log string) {
		if len(log) > 1<<16 {
			return
		}
		fm := formats[int(format)%len(formats)]
		p, err := config{
			LogFormat: fm.expr, RequestIndex: fm.groups[0], StatusIndex: fm.groups[1], BytesIndex: fm.groups[2], DurationIndex: fm.groups[3],
			Scale: fm.scale, EffectiveDigit: 3, RankingCount: 20, SlowCount: 5, Percentiles: []float64{0, 50, 100}, ShowStdDev: true, ShowBytes: true,
		}.plan()
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(fm.expr)
		want := 0
		for line := range strings.SplitSeq(log, "\n") {
			if re.MatchString(strings.TrimSpace(line)) {
				want++
			}
		}
		var out, errs strings.Builder
		err = p.report(t.Context(), input(log), &out, &errs)
		if (err == nil) != (want > 0) {
			t.Fatalf("%d requests: %v", want, err)
		}
		if want > 0 && !strings.Contains(out.String(), "TOP "+strconv.Itoa(min(want, 5))+" Slow") {
			t.Fatalf("%d requests\n%s", want, out.String())
		}
	})
}

// FuzzNumber: the value is that of strconv.ParseFloat.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0.021", "1.", ".5", "-", "", "1e3", "0x1p-2", "123456789012345", "0.00000000000001", "1_0"} {
		f.Add([]byte(s), -3)
	}
	f.Fuzz(func(t *testing.T, text []byte, scale int) {
		factor := math.Pow10(scale)
		want, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsNaN(want) || math.IsInf(want, 0) {
			want = 0
		}
		want *= factor
		n := parseNumber(text, factor)
		if n.value != want && !(math.IsNaN(want) && math.IsNaN(n.value)) {
			t.Fatalf("%q: %v, want %v", text, n.value, want)
		}
		var c tally
		c.add(n, n.frac)
		if s := c.append(nil, max(n.frac, 0), factor); len(s) != 1 || s[0].value != want && !math.IsNaN(want) {
			t.Fatalf("%q is counted as %v, want %v", text, s, want)
		}
	})
}
