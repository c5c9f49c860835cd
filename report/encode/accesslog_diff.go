package encode

import (
	"io"

	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/logfile"
)

// AccessDiffJSON writes what moved between two sides of access logs.
func AccessDiffJSON(w io.Writer, d *logfile.LogDiff, o logfile.AccessOptions) error {
	doc, err := logfile.DiffAccess(d, o)
	if err != nil {
		return err
	}
	rows, err := d.Moved(o)
	if err != nil {
		return err
	}
	by := d.Before.By
	return JSON(w, &AccessDiff{
		Schema: Schema, Kind: "accesslog diff", Verdict: doc.Verdict,
		Alerts: list(doc.Alerts, func(a *report.Alert) string { return a.Text }),
		By:     full(by), Before: newAccessSide(d.Before, d.Names[0]), After: newAccessSide(d.After, d.Names[1]),
		Rows: list(logfile.Limited(rows, o.Limit), func(r *logfile.Moved[accesslog.Row]) MovedRow {
			out := MovedRow{Key: map[string]string{}, Before: newMovedSide(r.Before), After: newMovedSide(r.After)}
			for i, k := range r.Either().Key {
				out.Key[by[i]] = k
			}
			return out
		}),
	})
}

// An AccessDiff is two sides of access logs.
type AccessDiff struct {
	Schema  int        `json:"schema"`
	Kind    string     `json:"kind"` // accesslog diff
	Verdict string     `json:"verdict"`
	Alerts  []string   `json:"alerts"`
	By      []string   `json:"by"`
	Before  AccessSide `json:"before"`
	After   AccessSide `json:"after"`
	Rows    []MovedRow `json:"rows"`
}

// An AccessSide is one side.
type AccessSide struct {
	Name     string       `json:"name"`
	Requests uint64       `json:"requests"`
	Total    float64      `json:"total_s"`
	Logs     []AccessPart `json:"logs"`
}

// A MovedRow is a row of both sides, null where a side has not got it.
type MovedRow struct {
	Key    map[string]string `json:"key"`
	Before *MovedSide        `json:"before"`
	After  *MovedSide        `json:"after"`
}

// A MovedSide is a row of one side.
type MovedSide struct {
	Requests uint64        `json:"requests"`
	Failed   uint64        `json:"server_errors"`
	Total    float64       `json:"total_s"`
	Latency  *Distribution `json:"latency"`
}

func newAccessSide(a *logfile.AccessLog, name string) AccessSide {
	out := AccessSide{Name: name, Logs: list(a.Logs, newAccessPart)}
	for i := range a.Rows {
		out.Requests += a.Rows[i].Count
		out.Total += a.Rows[i].Total.Seconds()
	}
	out.Total = rounded(out.Total)
	return out
}

func newMovedSide(r *accesslog.Row) *MovedSide {
	if r == nil {
		return nil
	}
	return &MovedSide{r.Count, r.Failed(), r.Total.Seconds(), distribution(r.Latency)}
}
