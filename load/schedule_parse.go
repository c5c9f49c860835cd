package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// ParseStages reads stages such as
//
//	30s@50,1m@200             two rates
//	30s@0..500,2m@500         a ramp, then its end held
//	10s@100,5s@0,10s@100      a pause between
//	1m@10..100,forever@100    the last stage goes on until it is stopped
//
// Rates are those of [unit.ParseRate].
func ParseStages(s string) ([]Stage, error) {
	var out []Stage
	for item := range strings.SplitSeq(s, ",") {
		st, err := parseStage(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return out, nil
}

func parseStage(s string) (st Stage, err error) {
	length, rates, ok := strings.Cut(s, "@")
	if !ok {
		return Stage{}, fmt.Errorf("bad stage %q: want a duration and a rate, such as 30s@50 or 1m@50..200", s)
	}
	if st.For, err = parseLength(strings.TrimSpace(length)); err != nil {
		return Stage{}, fmt.Errorf("bad stage %q: %w", s, err)
	}
	from, to, ramp := strings.Cut(rates, "..")
	if st.From, err = parseStageRate(from); err != nil {
		return Stage{}, fmt.Errorf("bad stage %q: %w", s, err)
	}
	st.To = st.From
	if ramp {
		if st.To, err = parseStageRate(to); err != nil {
			return Stage{}, fmt.Errorf("bad stage %q: %w", s, err)
		}
	}
	return st, nil
}

func parseLength(s string) (time.Duration, error) {
	if s == "forever" {
		return Forever, nil
	}
	d, err := unit.ParseDuration(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("bad duration %q: want more than 0", s)
	}
	return d, err
}

func parseStageRate(s string) (float64, error) {
	s = strings.TrimSpace(s)
	perSec, err := unit.ParseRate(s)
	switch {
	case err != nil:
		return 0, err
	case s == "infinity":
		return 0, fmt.Errorf("bad rate %q: a stage keeps a rate", s)
	case perSec > maxPerSec:
		return 0, fmt.Errorf("bad rate %q: more than %g/s", s, float64(maxPerSec))
	}
	return perSec, nil
}

// ParseSpacing reads even, also when empty, poisson, or burst:N.
func ParseSpacing(s string) (Spacing, error) {
	switch s {
	case "", "even":
		return Even, nil
	case "poisson":
		return Poisson, nil
	}
	number, ok := strings.CutPrefix(s, "burst:")
	if !ok {
		return 0, fmt.Errorf("bad spacing %q: want even, poisson or burst:N, such as burst:100", s)
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("bad spacing %q: want a whole number of requests after burst:, such as burst:100", s)
	}
	return Burst(int(n)), nil
}

// ParseThink reads a think time: 100ms, or 100ms..300ms for any between the two.
func ParseThink(s string) (least, most time.Duration, err error) {
	from, to, span := strings.Cut(s, "..")
	if least, err = unit.ParseDuration(from); err != nil {
		return 0, 0, fmt.Errorf("bad think time %q: %w", s, err)
	}
	if !span {
		return least, least, nil
	}
	if most, err = unit.ParseDuration(to); err != nil {
		return 0, 0, fmt.Errorf("bad think time %q: %w", s, err)
	}
	if most < least {
		return 0, 0, fmt.Errorf("bad think time %q: want the shorter one first", s)
	}
	return least, most, nil
}
