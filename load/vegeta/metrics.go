package vegeta

import (
	"strconv"
	"time"

	"github.com/influxdata/tdigest"
)

// Metrics sum up results as Vegeta does. The zero value is ready to use.
// Close computes what depends on all results; more may be added after it, and
// Close called again.
type Metrics struct {
	Latencies   Latencies      `json:"latencies"`
	Buckets     *Buckets       `json:"buckets,omitempty"` // nil when none were asked for
	BytesIn     ByteMetrics    `json:"bytes_in"`
	BytesOut    ByteMetrics    `json:"bytes_out"`
	Earliest    time.Time      `json:"earliest"` // the first timestamp
	Latest      time.Time      `json:"latest"`   // the last timestamp
	End         time.Time      `json:"end"`      // the end of the last answer
	Duration    time.Duration  `json:"duration"` // Latest - Earliest
	Wait        time.Duration  `json:"wait"`     // End - Latest
	Requests    uint64         `json:"requests"`
	Rate        float64        `json:"rate"`         // requests per second of Duration
	Throughput  float64        `json:"throughput"`   // successes per second of Duration + Wait
	Success     float64        `json:"success"`      // ratio, 0..1
	StatusCodes map[string]int `json:"status_codes"` // made by Close
	Errors      []string       `json:"errors"`       // each once, in the order in which they came first

	seen    map[string]bool
	codes   []uint64 // by status code; StatusCodes is made of them
	success uint64
}

// Latencies are those of all results, failed ones included.
type Latencies struct {
	Total time.Duration `json:"total"`
	Mean  time.Duration `json:"mean"`
	P50   time.Duration `json:"50th"`
	P90   time.Duration `json:"90th"`
	P95   time.Duration `json:"95th"`
	P99   time.Duration `json:"99th"`
	Max   time.Duration `json:"max"`
	Min   time.Duration `json:"min"`

	digest *tdigest.TDigest
}

// ByteMetrics count the bytes of one direction.
type ByteMetrics struct {
	Total uint64  `json:"total"`
	Mean  float64 `json:"mean"` // per request
}

// compression of the t-digest; it is Vegeta's.
const compression = 100

// Add adds one result.
func (m *Metrics) Add(r *Result) {
	m.init()
	m.Requests++
	if int(r.Code) >= len(m.codes) {
		m.codes = append(m.codes, make([]uint64, int(r.Code)+1-len(m.codes))...)
	}
	m.codes[r.Code]++
	m.BytesOut.Total += r.BytesOut
	m.BytesIn.Total += r.BytesIn
	m.Latencies.add(r.Latency)
	if m.Earliest.IsZero() || m.Earliest.After(r.Timestamp) {
		m.Earliest = r.Timestamp
	}
	if r.Timestamp.After(m.Latest) {
		m.Latest = r.Timestamp
	}
	if end := r.End(); end.After(m.End) {
		m.End = end
	}
	if r.Code >= 200 && r.Code < 400 {
		m.success++
	}
	if r.Error != "" && !m.seen[r.Error] {
		m.seen[r.Error] = true
		m.Errors = append(m.Errors, r.Error)
	}
	if m.Buckets != nil {
		m.Buckets.Add(r.Latency)
	}
}

func (m *Metrics) init() {
	if m.codes == nil {
		m.seen, m.Errors = map[string]bool{}, []string{}
		m.codes = make([]uint64, 600) // those of servers, as a rule
		m.Latencies.digest = tdigest.NewWithCompression(compression)
	}
}

func (l *Latencies) add(d time.Duration) {
	l.Total += d
	l.Max = max(l.Max, d)
	if d < l.Min || l.Min == 0 {
		l.Min = d
	}
	l.digest.Add(float64(d), 1)
}

// Quantile returns the t-digest's estimate of the quantile q, 0..1; 0 without
// results.
func (l *Latencies) Quantile(q float64) time.Duration {
	if l.digest == nil {
		return 0
	}
	return time.Duration(l.digest.Quantile(q))
}

// Close computes rates, means and percentiles of what was added so far.
func (m *Metrics) Close() {
	m.init()
	m.StatusCodes = map[string]int{}
	for code, n := range m.codes {
		if n > 0 {
			m.StatusCodes[strconv.Itoa(code)] = int(n)
		}
	}
	if m.Requests == 0 {
		return
	}
	n := float64(m.Requests)
	m.Rate, m.Throughput = n, float64(m.success)
	m.Duration = m.Latest.Sub(m.Earliest)
	m.Wait = m.End.Sub(m.Latest)
	if secs := m.Duration.Seconds(); secs > 0 {
		m.Rate /= secs
		m.Throughput /= (m.Duration + m.Wait).Seconds()
	}
	m.BytesIn.Mean = float64(m.BytesIn.Total) / n
	m.BytesOut.Mean = float64(m.BytesOut.Total) / n
	m.Success = float64(m.success) / n
	l := &m.Latencies
	l.Mean = time.Duration(float64(l.Total) / n)
	l.P50, l.P90, l.P95, l.P99 = l.Quantile(0.50), l.Quantile(0.90), l.Quantile(0.95), l.Quantile(0.99)
}
