package vegeta

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Buckets count latencies between bounds. Bucket i holds what is at least
// Bounds[i] and shorter than Bounds[i+1]; the last one has no end.
type Buckets struct {
	Bounds []time.Duration // rising; the first is 0 or less
	Counts []uint64        // one for each bound
	Total  uint64
}

// ParseBuckets reads bounds such as [0,1ms,10ms]. A bucket from 0 is added in
// front when the first bound is above it.
func ParseBuckets(s string) (*Buckets, error) {
	inner, ok := strings.CutPrefix(s, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !ok || !closed {
		return nil, fmt.Errorf("bad buckets %q: want bounds in brackets, such as [0,1ms,10ms]", clipText(s))
	}
	b := &Buckets{}
	for _, f := range strings.Split(inner, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(f))
		if err != nil {
			return nil, fmt.Errorf("bad buckets %q: bad duration %q", clipText(s), clipText(f))
		}
		if len(b.Bounds) == 0 && d > 0 {
			b.Bounds = append(b.Bounds, 0)
		}
		if n := len(b.Bounds); n > 0 && d <= b.Bounds[n-1] {
			return nil, fmt.Errorf("bad buckets %q: %s does not come after %s", clipText(s), d, b.Bounds[n-1])
		}
		b.Bounds = append(b.Bounds, d)
	}
	b.Counts = make([]uint64, len(b.Bounds))
	return b, nil
}

// Add counts one latency. One below the first bound is counted in the last
// bucket, as Vegeta does; there are none unless a clock was set back.
func (b *Buckets) Add(d time.Duration) {
	i, found := slices.BinarySearch(b.Bounds, d)
	if !found {
		i--
	}
	if i < 0 {
		i = len(b.Bounds) - 1
	}
	b.Counts[i]++
	b.Total++
}

// MarshalJSON returns an object of counts by lower bound in ns, in order.
func (b *Buckets) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, lo := range b.Bounds {
		if i > 0 {
			buf.WriteByte(',')
		}
		fmt.Fprintf(&buf, `"%d":%d`, lo, b.Counts[i])
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// name returns the ends of bucket i as they are printed.
func (b *Buckets) name(i int) (lo, hi string) {
	if i == len(b.Bounds)-1 {
		return b.Bounds[i].String(), "+Inf"
	}
	return b.Bounds[i].String(), b.Bounds[i+1].String()
}

// bar returns the bar of a bucket and its share in percent.
func (b *Buckets) bar(i int) (bar string, percent float64) {
	if b.Total == 0 {
		return "", 0
	}
	ratio := float64(b.Counts[i]) / float64(b.Total)
	return strings.Repeat("#", int(ratio*75)), ratio * 100
}
