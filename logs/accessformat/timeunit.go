package accessformat

import (
	"bytes"
	"context"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

// A sniffer looks at the durations of lines, to find out in which unit and with
// how many decimals they are written.
type sniffer struct {
	seen       int // durations
	noUnit     int // of which the name says no unit
	fraction   bool
	largest    uint64        // whole number without a unit
	resolution time.Duration // the finest with a unit; 0: none
	decimals   int           // the most, without a unit
}

// see looks at one value.
func (s *sniffer) see(m *meaning, v []byte) {
	if m.what != aLatency && m.what != anUpstream || isDash(v) {
		return
	}
	if i := bytes.IndexAny(v, ",: "); i >= 0 {
		v = v[:i] // of several upstreams the first will do
	}
	decimals, end := 0, 0
	for end < len(v) && isDigit(v[end]) {
		end++
	}
	whole := v[:end]
	if end < len(v) && v[end] == '.' {
		for end++; end < len(v) && isDigit(v[end]); end++ {
			decimals++
		}
	}
	if end == 0 {
		return
	}
	s.seen++
	unit := m.unit
	switch suffix := string(v[end:]); {
	case suffix == "s":
		unit = time.Second
	case suffix == "ms":
		unit = time.Millisecond
	case suffix == "us" || suffix == "µs":
		unit = time.Microsecond
	case suffix == "ns":
		unit = 1
	case unit == 0:
		s.noUnit++
		s.fraction = s.fraction || decimals > 0
		s.decimals = max(s.decimals, decimals)
		if n, ok := parseDigits(whole); ok {
			s.largest = max(s.largest, n)
		}
		return
	}
	s.finer(unit, decimals)
}

// finer takes note of a duration with so many decimals of the unit.
func (s *sniffer) finer(unit time.Duration, decimals int) {
	for range decimals {
		unit = max(unit/10, 1)
	}
	if s.resolution == 0 || unit < s.resolution {
		s.resolution = unit
	}
}

// maxWholeSeconds distinguishes seconds from smaller units: few servers let a request
// take longer than a minute, and no request takes less than 60 µs 64 times in a
// row.
const maxWholeSeconds = 60

// numberUnit returns the unit of numbers without a name. nginx, H2O and Rack write
// seconds with a fraction, Apache's %D and Varnish's microseconds and Apache's %T
// seconds, both without.
func (s *sniffer) numberUnit() time.Duration {
	if s.fraction || s.largest <= maxWholeSeconds {
		return time.Second
	}
	return time.Microsecond
}

// keyUnit returns the unit of keys such as duration. Seconds have a fraction
// (Caddy); whole numbers are milliseconds (Envoy) unless a request would have
// taken longer than a minute, then microseconds unless it would have taken
// longer than ten seconds, then Go's nanoseconds.
func (s *sniffer) keyUnit() time.Duration {
	switch largest := time.Duration(min(s.largest, 1<<40)); {
	case s.fraction:
		return time.Second
	case largest*time.Millisecond <= time.Minute:
		return time.Millisecond
	case largest*time.Microsecond <= 10*time.Second:
		return time.Microsecond
	}
	return time.Nanosecond
}

// Sniffed returns the format with what its names do not say, the unit and the
// resolution of the request times, as it is found from the first lines of a log.
func (f *Format) Sniffed(sample []byte) *Format {
	out := *f
	out.others = nil // they say nothing of this one
	p := out.Parser(ParserOptions{})
	p.sniffer = &sniffer{}
	var r Record
	eachLine(sample, func(_ int64, line []byte) { p.Parse(line, &r) })
	out.others = f.others
	out.settle(p.sniffer)
	return &out
}

// SniffInput is [Format.Sniffed] by the first lines of an input. A format that was
// detected stays as it is.
func (f *Format) SniffInput(ctx context.Context, in *lines.Input) (*Format, error) {
	if f.detected {
		return f, nil
	}
	sample, _, err := peekLines(ctx, in, peeked[0])
	if err != nil {
		return nil, err
	}
	return f.Sniffed(sample).lackingOf(sample), nil
}

// settle takes over what was seen.
func (f *Format) settle(s *sniffer) {
	if s.seen == 0 {
		return
	}
	if s.noUnit > 0 {
		if f.kind == byProgram {
			f.unit = s.numberUnit()
		} else {
			f.unit = s.keyUnit()
			f.assumed = append(f.assumed, "durations whose keys name no unit are taken for "+unitName(f.unit))
		}
		s.finer(f.unit, s.decimals)
	}
	f.resolution = s.resolution
}

// unitName returns what people call a unit.
func unitName(unit time.Duration) string {
	switch unit {
	case time.Second:
		return "s"
	case time.Millisecond:
		return "ms"
	case time.Microsecond:
		return "µs"
	}
	return "ns"
}
