package vegeta

import (
	"bytes"
	"net/http"
	"time"
)

// A Result is what came of one request. The names and the order of its fields
// are those of Vegeta's files.
type Result struct {
	Attack    string        `json:"attack"`
	Seq       uint64        `json:"seq"`
	Code      uint16        `json:"code"`
	Timestamp time.Time     `json:"timestamp"` // of the due time, when kasoku wrote it
	Latency   time.Duration `json:"latency"`   // from the timestamp
	BytesOut  uint64        `json:"bytes_out"`
	BytesIn   uint64        `json:"bytes_in"`
	Error     string        `json:"error"`
	Body      []byte        `json:"body"` // nil, when kasoku wrote it and was not asked to keep it
	Method    string        `json:"method"`
	URL       string        `json:"url"`
	Headers   http.Header   `json:"headers"` // of the answer; likewise
}

// End returns when the answer was complete.
func (r *Result) End() time.Time { return r.Timestamp.Add(r.Latency) }

// Equal reports whether both results say the same. Empty and missing bodies and
// headers are alike, as the encodings do not distinguish them.
func (r *Result) Equal(o *Result) bool {
	return r.Attack == o.Attack && r.Seq == o.Seq && r.Code == o.Code &&
		r.Timestamp.Equal(o.Timestamp) && r.Latency == o.Latency &&
		r.BytesOut == o.BytesOut && r.BytesIn == o.BytesIn &&
		r.Error == o.Error && bytes.Equal(r.Body, o.Body) &&
		r.Method == o.Method && r.URL == o.URL && equalHeaders(r.Headers, o.Headers)
}

func equalHeaders(a, b http.Header) bool {
	if len(a) != len(b) {
		return false
	}
	for k, vs := range a {
		ws, ok := b[k]
		if !ok || len(vs) != len(ws) {
			return false
		}
		for i := range vs {
			if vs[i] != ws[i] {
				return false
			}
		}
	}
	return true
}
