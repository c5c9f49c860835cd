package accesslog

import (
	"math"
	"math/bits"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs/accessformat"
)

// fewLatencies is how many request times a row holds before it gets a
// histogram: of many routes there are few requests.
const fewLatencies = 6

// A row is what the requests of one key add up to.
type row struct {
	key      string
	hash     uint64
	frequent bool // key begins with frequentMark

	count        uint64
	bytes        uint64
	minBytes     uint64
	maxBytes     uint64
	requestBytes uint64
	upstream     uint64 // ns
	upstreams    uint64 // requests that have one
	bots         uint64
	codes        []codeCount // the most frequent near the front
	series       series
	first, last  int64 // ns since offset 0; first > last: none has a time

	timed   uint64    // requests with a request time
	squares squareSum // of the request times
	few     [fewLatencies]time.Duration
	latency *histogram.Histogram // nil while few suffices
	detail  *detail              // nil without Options.Detail
}

type codeCount struct {
	code  int
	count uint64
}

func newRow(key string, hash uint64) *row {
	return &row{key: key, hash: hash, minBytes: math.MaxUint64, first: math.MaxInt64, last: math.MinInt64}
}

// add adds a record, all but its times.
func (w *row) add(r *accessformat.Record) {
	w.count++
	w.bytes += r.Bytes
	w.minBytes, w.maxBytes = min(w.minBytes, r.Bytes), max(w.maxBytes, r.Bytes)
	w.requestBytes += r.RequestBytes
	if r.Has&accessformat.HasUpstream != 0 {
		w.upstream += uint64(max(r.Upstream, 0))
		w.upstreams++
	}
	if len(w.codes) > 0 && w.codes[0].code == r.Status {
		w.codes[0].count++
	} else {
		w.addCode(r.Status, 1)
	}
	if r.Has&accessformat.HasLatency != 0 {
		w.addLatency(r.Latency)
	}
}

func (w *row) addCode(code int, n uint64) {
	for i := range w.codes {
		if w.codes[i].code == code {
			w.codes[i].count += n
			if i > 0 && w.codes[i].count > w.codes[i-1].count {
				w.codes[i], w.codes[i-1] = w.codes[i-1], w.codes[i]
			}
			return
		}
	}
	w.codes = append(w.codes, codeCount{code, n})
}

func (w *row) addLatency(d time.Duration) {
	d = max(d, 0)
	hi, lo := bits.Mul64(uint64(d), uint64(d))
	w.squares.add(hi, lo)
	if w.latency != nil {
		w.timed++
		w.latency.Record(d)
		return
	}
	if w.timed < fewLatencies {
		w.few[w.timed] = d
		w.timed++
		return
	}
	w.makeHistogram()
	w.timed++
	w.latency.Record(d)
}

// makeHistogram goes over from few to a histogram.
func (w *row) makeHistogram() {
	w.latency = histogram.NewExact(time.Millisecond)
	for _, d := range w.few[:w.timed] {
		w.latency.Record(d)
	}
}

// squareSum is a sum of squared durations, in ns².
type squareSum struct{ hi, lo uint64 }

// add adds to the sum, which stays at its end when it is too large: at 10 s per request
// that takes 3·10¹⁸ of them.
func (s *squareSum) add(hi, lo uint64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, carry = bits.Add64(s.hi, hi, carry)
	if carry != 0 {
		s.hi, s.lo = math.MaxUint64, math.MaxUint64
	}
}

// seconds returns the sum in s².
func (s *squareSum) seconds() float64 { return (float64(s.hi)*0x1p64 + float64(s.lo)) / 1e18 }

// merge adds another row. Its series has the same step.
func (w *row) merge(o *row) {
	w.count += o.count
	w.bytes += o.bytes
	w.minBytes, w.maxBytes = min(w.minBytes, o.minBytes), max(w.maxBytes, o.maxBytes)
	w.requestBytes += o.requestBytes
	w.upstream += o.upstream
	w.upstreams += o.upstreams
	w.bots += o.bots
	w.mergeDetail(o.detail)
	for _, c := range o.codes {
		w.addCode(c.code, c.count)
	}
	w.series.merge(o.series.buckets)
	w.series.bySecond.Merge(&o.series.bySecond)
	w.first, w.last = min(w.first, o.first), max(w.last, o.last)
	w.squares.add(o.squares.hi, o.squares.lo)
	if o.latency == nil && w.latency == nil && w.timed+o.timed <= fewLatencies {
		copy(w.few[w.timed:], o.few[:o.timed])
		w.timed += o.timed
		return
	}
	if w.latency == nil {
		w.makeHistogram()
	}
	w.timed += o.timed
	if o.latency != nil {
		w.latency.Merge(o.latency)
		return
	}
	for _, d := range o.few[:o.timed] {
		w.latency.Record(d)
	}
}

// seconds returns the sum of the request times.
func (w *row) seconds() float64 {
	if w.latency != nil {
		return w.latency.Sum().Seconds()
	}
	var sum time.Duration
	for _, d := range w.few[:w.timed] {
		sum += d
	}
	return sum.Seconds()
}

// histogram returns the request times; it shares nothing with the row.
func (w *row) histogram() *histogram.Histogram {
	if w.latency != nil {
		return w.latency.Clone()
	}
	h := histogram.NewExact(time.Millisecond)
	for _, d := range w.few[:w.timed] {
		h.Record(d)
	}
	return h
}
