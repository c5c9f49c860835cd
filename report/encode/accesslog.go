package encode

import (
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/logfile"
)

// AccessLogJSON writes what was read of access logs; with seconds also how many
// requests each row had in each of them.
func AccessLogJSON(w io.Writer, a *logfile.AccessLog, o logfile.AccessOptions, seconds bool) error {
	selected, err := logfile.SelectAccess(a, o)
	if err != nil {
		return err
	}
	return JSON(w, newAccessLog(a, selected, o, seconds))
}

// An AccessLog is what access logs hold.
type AccessLog struct {
	Schema    int             `json:"schema"`
	Kind      string          `json:"kind"` // accesslog
	Verdict   string          `json:"verdict"`
	Alerts    []string        `json:"alerts"`
	Complete  bool            `json:"complete"`
	From      *time.Time      `json:"from"`
	To        *time.Time      `json:"to"`
	By        []string        `json:"by"`
	Requests  uint64          `json:"requests"`
	Total     float64         `json:"total_s"`
	Exact     *float64        `json:"exact_s"`
	Endpoints []AccessRow     `json:"endpoints"`
	Slowest   []AccessRequest `json:"slowest"`
	Logs      []AccessPart    `json:"logs"`
	Notes     []string        `json:"notes"`
}

// An AccessRow is one endpoint, or what the rows were asked to be.
type AccessRow struct {
	Key          map[string]string  `json:"key"`
	Requests     uint64             `json:"requests"`
	Failed       uint64             `json:"server_errors"`
	Bots         uint64             `json:"bots"`
	Codes        map[string]uint64  `json:"codes"`
	Total        float64            `json:"total_s"`
	Share        float64            `json:"share_ratio"`
	Deviation    *float64           `json:"stddev_s"`
	Latency      *Distribution      `json:"latency"`
	Percentiles  map[string]float64 `json:"percentiles_s,omitempty"`
	Bytes        uint64             `json:"body_bytes"`
	MinBytes     uint64             `json:"body_min_bytes"`
	MaxBytes     uint64             `json:"body_max_bytes"`
	RequestBytes *uint64            `json:"request_bytes"`
	Upstream     *float64           `json:"upstream_s"`
	Upstreamed   uint64             `json:"upstream_requests"`
	First        *time.Time         `json:"first"`
	Last         *time.Time         `json:"last"`
	Seconds      []AccessSecond     `json:"seconds,omitempty"`
}

// An AccessSecond is one second of a row.
type AccessSecond struct {
	At       time.Time `json:"at"`
	Requests uint64    `json:"requests"`
	Failed   uint64    `json:"server_errors"`
}

// An AccessRequest is one of the slowest.
type AccessRequest struct {
	At       *time.Time `json:"at"`
	Latency  float64    `json:"latency_s"`
	Upstream *float64   `json:"upstream_s"`
	Status   int        `json:"status"`
	Method   string     `json:"method"`
	Route    string     `json:"route"`
	URI      string     `json:"uri"`
	Bytes    uint64     `json:"body_bytes"`
}

// An AccessPart accounts for one log: lines = records + continued + blank + dropped.
type AccessPart struct {
	Path      string    `json:"path"`
	Format    string    `json:"format,omitempty"`
	Lines     uint64    `json:"lines"`
	Records   uint64    `json:"records"`
	Continued uint64    `json:"continued"`
	Blank     uint64    `json:"blank"`
	Dropped   uint64    `json:"dropped"`
	Bad       []BadLine `json:"bad_lines"`
	Note      string    `json:"note,omitempty"`
}

// A BadLine is a line that was not understood.
type BadLine struct {
	Line int64  `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

func newAccessLog(a *logfile.AccessLog, selected *logfile.SelectedAccess, o logfile.AccessOptions, seconds bool) *AccessLog {
	wall := func(at time.Duration) time.Time { return a.Wall(at, o.Options) }
	logged := func(at time.Duration) *time.Time {
		if selected.From == nil {
			return nil
		}
		t := wall(at)
		return &t
	}
	out := &AccessLog{
		Schema: Schema, Kind: "accesslog", Verdict: selected.Document.Verdict, Complete: a.Stopped == "", By: full(a.By),
		Alerts: list(selected.Document.Alerts, func(a *report.Alert) string { return a.Text }),
		Total:  rounded(selected.Total.Seconds()), Requests: selected.Requests,
		Exact: known(a.Exact.Seconds(), a.Exact > 0),
		Slowest: list(a.Slowest, func(r *kasoku.SlowRequest) AccessRequest {
			return AccessRequest{logged(r.At), r.Latency.Seconds(), known(r.Upstream.Seconds(), r.Upstream > 0),
				r.Status, r.Method, r.Route, r.URI, r.Bytes}
		}),
		Logs:  list(a.Logs, newAccessPart),
		Notes: list(a.Notes, func(n *report.Note) string { return n.Text }),
		Endpoints: list(selected.Rows, func(r **accesslog.Row) AccessRow {
			return newAccessRow(*r, a.By, selected,
				o.Percentiles, wall)
		}),
	}
	if selected.From != nil {
		from, to := wall(*selected.From), wall(*selected.To)
		out.From, out.To = &from, &to
	}
	if seconds {
		for i, r := range selected.Rows {
			out.Endpoints[i].Seconds = accessSeconds(r, wall)
		}
	}
	return out
}

func newAccessRow(r *accesslog.Row, by []string, selected *logfile.SelectedAccess, ps []float64,
	wall func(time.Duration) time.Time) AccessRow {
	out := AccessRow{
		Key: map[string]string{}, Requests: r.Count, Failed: r.Failed(), Bots: r.Bots, Codes: codes(r.Codes),
		Total: r.Total.Seconds(),
		Share: rounded(selected.Share(r)), Latency: distribution(r.Latency), Bytes: r.Bytes, MinBytes: r.MinBytes,
		MaxBytes: r.MaxBytes,
		Upstream: known(r.Upstream.Seconds(), r.UpstreamCount > 0), Upstreamed: r.UpstreamCount,
	}
	if logfile.Stamped(r) {
		first, last := wall(r.First), wall(r.Last)
		out.First, out.Last = &first, &last
	}
	for i, k := range r.Key {
		out.Key[by[i]] = k
	}
	if r.Latency.Count() > 0 {
		out.Deviation = known(selected.Deviation(r), true)
		for _, p := range ps {
			if out.Percentiles == nil {
				out.Percentiles = map[string]float64{}
			}
			out.Percentiles[strconv.FormatFloat(p, 'f', -1, 64)] = r.Latency.Quantile(p / 100).Seconds()
		}
	}
	if r.RequestBytes > 0 {
		out.RequestBytes = &r.RequestBytes
	}
	return out
}

func accessSeconds(r *accesslog.Row, wall func(time.Duration) time.Time) []AccessSecond {
	out := make([]AccessSecond, 0, len(r.Seconds))
	for at, n := range r.Seconds {
		out = append(out, AccessSecond{wall(time.Duration(at) * time.Second), n.Count, n.Failed})
	}
	slices.SortFunc(out, func(a, b AccessSecond) int { return a.At.Compare(b.At) })
	return out
}

func newAccessPart(w *kasoku.LogWindow) AccessPart {
	return AccessPart{
		w.Path, w.Format, w.Lines, w.Records, w.Continued, w.Blank, w.Dropped,
		list(w.BadSample, func(b *kasoku.BadLine) BadLine { return BadLine{b.Line, b.Text, b.Why} }), w.Note,
	}
}
