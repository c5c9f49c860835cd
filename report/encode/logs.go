package encode

import (
	"math"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// An Endpoint is a route of the access log.
type Endpoint struct {
	Host         string            `json:"host,omitempty"`
	Method       string            `json:"method"`
	Route        string            `json:"route"`
	Count        uint64            `json:"requests"`
	Failed       uint64            `json:"server_errors"`
	Bots         uint64            `json:"bots"`
	Codes        map[string]uint64 `json:"codes"`
	Bytes        uint64            `json:"body_bytes"`
	MinBytes     uint64            `json:"body_min_bytes"`
	MaxBytes     uint64            `json:"body_max_bytes"`
	RequestBytes *uint64           `json:"request_bytes"` // null where the log does not say
	Total        float64           `json:"total_s"`
	Deviation    *float64          `json:"stddev_s"` // null where it is not known
	Latency      *Distribution     `json:"latency"`
	Upstream     *float64          `json:"upstream_s"` // null where the log does not say
	Upstreamed   uint64            `json:"upstream_requests"`
}

func newEndpoint(e *kasoku.Endpoint) Endpoint {
	out := Endpoint{
		Host: e.Host, Method: e.Method, Route: e.Route, Count: e.Count, Failed: e.Failed(), Bots: e.Bots,
		Codes: codes(e.Codes),
		Bytes: e.Bytes, MinBytes: e.MinBytes, MaxBytes: e.MaxBytes, Total: e.Total.Seconds(),
		Deviation: deviation(e.Squares, e.Total, e.Latency.Count()), Latency: distribution(e.Latency),
		Upstream: known(e.Upstream.Seconds(), e.UpstreamCount > 0), Upstreamed: e.UpstreamCount,
	}
	if e.RequestBytes > 0 {
		out.RequestBytes = &e.RequestBytes
	}
	return out
}

// deviation is the standard deviation of n durations, null in files that do not have it.
func deviation(squares float64, total time.Duration, n uint64) *float64 {
	if n == 0 || squares <= 0 {
		return nil
	}
	mean := total.Seconds() / float64(n)
	return known(math.Sqrt(max(squares/float64(n)-mean*mean, 0)), true)
}

// Variants are what an endpoint was put together from.
type Variants struct {
	Host   string      `json:"host,omitempty"`
	Method string      `json:"method"`
	Route  string      `json:"route"`
	Paths  uint64      `json:"paths"`
	Sets   []QueryKeys `json:"sets"`
}

// QueryKeys are the requests of an endpoint with the same query keys.
type QueryKeys struct {
	Keys     string  `json:"keys"`
	Requests uint64  `json:"requests"`
	Total    float64 `json:"total_s"`
}

// newVariants returns what the endpoints of all hosts were put together from.
func newVariants(r *kasoku.Recording) (out []Variants) {
	seen := map[string]bool{}
	for i := range r.Endpoints {
		host := r.Endpoints[i].Host
		if seen[host] {
			continue
		}
		seen[host] = true
		of := r.Variants(host)
		out = append(out, list(of, func(v *kasoku.Variants) Variants {
			return Variants{v.Host, v.Method, v.Route, v.Paths, list(v.Sets, func(q *kasoku.QueryKeys) QueryKeys {
				return QueryKeys{q.Keys, q.Requests, q.Time.Seconds()}
			})}
		})...)
	}
	return out
}

// A SlowRequest is one of the slowest.
type SlowRequest struct {
	Host     string   `json:"host,omitempty"`
	At       float64  `json:"at_s"`
	Latency  float64  `json:"latency_s"`
	Upstream *float64 `json:"upstream_s"` // null where the log does not say
	Status   int      `json:"status"`
	Method   string   `json:"method"`
	Route    string   `json:"route"`
	URI      string   `json:"uri"`
	Bytes    uint64   `json:"body_bytes"`
}

func newSlowRequest(r *kasoku.SlowRequest) SlowRequest {
	return SlowRequest{r.Host, r.At.Seconds(), r.Latency.Seconds(), known(r.Upstream.Seconds(), r.Upstream > 0),
		r.Status, r.Method, r.Route, r.URI, r.Bytes}
}

// A Query is a class of statements of the slow log.
type Query struct {
	Host         string        `json:"host,omitempty"`
	ID           string        `json:"id"`
	Fingerprint  string        `json:"fingerprint"`
	Tag          string        `json:"tag,omitempty"`
	Verb         string        `json:"verb"`
	Tables       []string      `json:"tables"`
	Database     string        `json:"schema,omitempty"`
	Sample       string        `json:"sample,omitempty"`
	Calls        uint64        `json:"calls"`
	Total        float64       `json:"total_s"`
	Deviation    *float64      `json:"stddev_s"` // null where it is not known
	Lock         float64       `json:"lock_s"`
	Latency      *Distribution `json:"latency"`
	RowsExamined uint64        `json:"rows_examined"`
	RowsSent     uint64        `json:"rows_sent"`
	RowsAffected *uint64       `json:"rows_affected"` // null where the log does not say
	PerRequest   *float64      `json:"per_request"`   // null without requests

	// How the application asks; null where it was not counted.
	Distinct *uint64 `json:"distinct"`
	Repeated *uint64 `json:"repeated"`
	Streak   *uint64 `json:"streak"`
	Streaks  *uint64 `json:"streaks"`
}

func newQuery(q *kasoku.Query) Query {
	out := Query{
		Host: q.Host, ID: q.ID, Fingerprint: q.Fingerprint, Tag: q.Tag, Verb: q.Verb, Tables: full(q.Tables),
		Database: q.Schema, Sample: q.Sample, Calls: q.Calls,
		Total: q.Total.Seconds(), Deviation: deviation(q.Squares, q.Total, q.Latency.Count()), Lock: q.Lock.Seconds(),
		Latency:      distribution(q.Latency),
		RowsExamined: q.RowsExamined, RowsSent: q.RowsSent,
	}
	if q.HasAffected {
		out.RowsAffected = &q.RowsAffected
	}
	if q.Distinct > 0 {
		out.Distinct, out.Repeated, out.Streak, out.Streaks = &q.Distinct, &q.Repeated, &q.Streak, &q.Streaks
	}
	return out
}

func newQueries(r *kasoku.Recording) []Query {
	requests := r.Tally(0).Asked
	if requests == 0 {
		_, endpoints := r.FrontLog()
		for i := range endpoints {
			requests += endpoints[i].Count
		}
	}
	return list(r.Queries, func(q *kasoku.Query) Query {
		out := newQuery(q)
		out.PerRequest = known(float64(q.Calls)/float64(max(requests, 1)), requests > 0)
		return out
	})
}

// A Transaction is a class of transactions of the slow log.
type Transaction struct {
	Host       string   `json:"host,omitempty"`
	Shape      []string `json:"shape"`
	Verbs      string   `json:"verbs"`
	Tag        string   `json:"tag,omitempty"`
	Count      uint64   `json:"count"`
	RolledBack uint64   `json:"rolled_back"`
	ReadOnly   bool     `json:"read_only"`
	Statements uint64   `json:"statements"`
	Total      float64  `json:"total_s"`
	Max        float64  `json:"max_s"`
}

func newTransaction(t *kasoku.Transaction) Transaction {
	return Transaction{t.Host, full(t.Shape), t.Verbs, t.Tag, t.Count, t.RolledBack, t.ReadOnly, t.Statements,
		t.Total.Seconds(), t.Max.Seconds()}
}

// An Advice is what one check of a server's settings says.
type Advice struct {
	Host       string     `json:"host,omitempty"`
	ID         string     `json:"id"`
	Area       string     `json:"area"`
	Title      string     `json:"title"`
	Variable   string     `json:"variable,omitempty"`
	Value      string     `json:"value,omitempty"`
	Proposed   string     `json:"proposed,omitempty"`
	Formula    string     `json:"formula"`
	Measured   string     `json:"measured"`
	Threshold  string     `json:"threshold"`
	Window     string     `json:"window"`
	Confidence Confidence `json:"confidence"`
	SetGlobal  string     `json:"set_global,omitempty"`
	ConfLine   string     `json:"conf_line,omitempty"`
	Risk       string     `json:"risk"`
	Gain       string     `json:"gain,omitempty"`
	Price      string     `json:"price,omitempty"`
	Note       string     `json:"note,omitempty"`
}

// NewAdvice is advice as JSON.
func NewAdvice(a *kasoku.Advice) Advice {
	c := a.Confidence
	return Advice{
		a.Host, a.ID, a.Area, a.Title, a.Variable, a.Value, a.Proposed, a.Formula, a.Measured, a.Threshold, a.Window,
		Confidence{string(c.Level), c.Holds, c.Of, c.Note}, a.SetGlobal, a.ConfLine, string(a.Risk), a.Gain, a.Price,
		strings.TrimSpace(a.Note),
	}
}
