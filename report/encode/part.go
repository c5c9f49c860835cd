package encode

import (
	"io"
	"time"

	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recording"
)

// PartJSON writes some seconds of a run.
func PartJSON(w io.Writer, p *part.Part, o report.Options) error { return JSON(w, newPart(p, o)) }

// PartsJSON writes two stretches of runs that are compared.
func PartsJSON(w io.Writer, before, after *part.Part, o report.Options) error {
	return JSON(w, &Parts{Schema: Schema, Kind: "parts", Verdict: recording.ShowParts(before, after, o).Verdict,
		Before: newPart(before, o), After: newPart(after, o)})
}

// Parts are two stretches of runs. What moved is not judged: seconds of one run are no independent runs.
type Parts struct {
	Schema  int    `json:"schema"`
	Kind    string `json:"kind"` // parts
	Verdict string `json:"verdict"`
	Before  *Part  `json:"before"`
	After   *Part  `json:"after"`
}

func newPart(p *part.Part, o report.Options) *Part {
	doc := recording.ShowPart(p, o)
	out := &Part{
		Schema: Schema, Kind: "part", Run: p.Of.Run.ID, Project: p.Of.Run.Project, Label: p.Of.Run.Label,
		Started: p.Of.Run.Started.Add(p.Interval.From), From: p.Interval.From.Seconds(), To: p.Interval.To.Seconds(),
		Complete:  p.Complete(),
		Alerts:    list(doc.Alerts, func(a *report.Alert) string { return a.Text }),
		Endpoints: list(p.Endpoints, newPartEndpoint), Queries: list(p.Queries, newPartQuery),
		Messages: list(p.Messages, func(m *part.Message) PartMessage {
			return PartMessage{m.Host, m.Level, m.Pattern, m.Count}
		}),
	}
	if t := p.Load; t != nil {
		out.Load = &PartLoad{t.Asked, t.Success, distribution(t.Latency)}
	}
	return out
}

// A Part is some seconds of a run.
type Part struct {
	Schema    int            `json:"schema"`
	Kind      string         `json:"kind"` // part
	Run       string         `json:"run"`
	Project   string         `json:"project"`
	Label     string         `json:"label"`
	Started   time.Time      `json:"started"`
	From      float64        `json:"from_s"`
	To        float64        `json:"to_s"`
	Complete  bool           `json:"complete"`
	Alerts    []string       `json:"alerts"`
	Load      *PartLoad      `json:"load"`
	Endpoints []PartEndpoint `json:"endpoints"`
	Queries   []PartQuery    `json:"queries"`
	Messages  []PartMessage  `json:"messages"`
}

// A PartLoad is what kasoku's own load asked.
type PartLoad struct {
	Asked   uint64        `json:"asked"`
	Success uint64        `json:"success"`
	Latency *Distribution `json:"latency"`
}

// A PartEndpoint is what the access log holds of an endpoint.
type PartEndpoint struct {
	Host     string        `json:"host"`
	Method   string        `json:"method"`
	Route    string        `json:"route"`
	Requests uint64        `json:"requests"`
	Failed   uint64        `json:"server_errors"`
	Total    *float64      `json:"total_s"`
	Latency  *Distribution `json:"latency"`
}

func newPartEndpoint(e *part.Endpoint) PartEndpoint {
	out := PartEndpoint{Host: e.Host, Method: e.Method, Route: e.Route, Requests: e.Count, Failed: e.Failed,
		Latency: distribution(e.Latency)}
	if e.Latency != nil {
		total := rounded(e.Latency.Sum().Seconds())
		out.Total = &total
	}
	return out
}

// A PartQuery is what is known of a class of statements.
type PartQuery struct {
	Host        string        `json:"host"`
	ID          string        `json:"id"`
	Fingerprint string        `json:"fingerprint"`
	Calls       uint64        `json:"calls"`
	Total       float64       `json:"total_s"`
	Rows        uint64        `json:"rows_sent"`
	Latency     *Distribution `json:"latency"`
}

func newPartQuery(q *part.Query) PartQuery {
	return PartQuery{q.Host, q.ID, q.Fingerprint, q.Calls, rounded(q.Total.Seconds()), q.Rows, distribution(q.Latency)}
}

// A PartMessage is a pattern of messages.
type PartMessage struct {
	Host    string `json:"host"`
	Level   string `json:"level"`
	Pattern string `json:"pattern"`
	Count   uint64 `json:"count"`
}
