package kataribe

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// FuzzReport: any log in any of the formats: no panic, and every line is a
// request, blank, or reported as dropped.
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
