package encode

import (
	"io"
	"time"

	"github.com/kasoku/kasoku/load/carbon"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/loadreport"
)

// CarbonJSON writes what came of a load of carbon.
func CarbonJSON(w io.Writer, c *loadreport.Carbon, o report.Options) error {
	return JSON(w, newCarbon(c, o))
}

// A Carbon is a load of carbon, and what came of it.
type Carbon struct {
	Schema      int            `json:"schema"`
	Kind        string         `json:"kind"` // carbon
	Name        string         `json:"name,omitempty"`
	Verdict     string         `json:"verdict"`
	Alerts      []string       `json:"alerts"`
	Started     time.Time      `json:"started"`
	Length      float64        `json:"length_s"`
	Address     string         `json:"address"`
	Protocol    string         `json:"protocol"`
	Agents      int            `json:"agents"`
	Series      int            `json:"series"`
	Interval    float64        `json:"interval_s"`
	Stopped     bool           `json:"stopped"`
	Total       CarbonPoints   `json:"total"`
	Seconds     []CarbonSecond `json:"seconds"`
	Server      *CarbonServer  `json:"server"` // null when it did not report
	Connections uint64         `json:"connections"`
	LastError   string         `json:"last_error,omitempty"`
}

// CarbonPoints is what was due and what became of it. Acknowledged is null over UDP.
type CarbonPoints struct {
	Nominal     uint64  `json:"nominal"`
	Sent        uint64  `json:"sent"`
	Acked       *uint64 `json:"acknowledged"`
	Outstanding uint64  `json:"outstanding"`
	Skipped     uint64  `json:"skipped"`
	Lost        uint64  `json:"lost"`
	Unsure      uint64  `json:"unsure"`
	Blocked     float64 `json:"blocked_s"`
	Failures    uint64  `json:"dial_failures"`
	Broken      uint64  `json:"broken"`
	CPU         float64 `json:"cpu_s"`
	Memory      uint64  `json:"memory_bytes"`
}

// A CarbonSecond is a stretch of a load, of one second unless it is long.
type CarbonSecond struct {
	From   float64 `json:"from_s"`
	To     float64 `json:"to_s"`
	Agents int     `json:"agents"`
	CarbonPoints
}

// A CarbonServer is what servers reported of themselves, added up; null what none reported.
type CarbonServer struct {
	Received  *float64        `json:"received"`
	Committed *float64        `json:"committed"`
	Updates   *float64        `json:"updates"`
	Created   *float64        `json:"created"`
	Dropped   *float64        `json:"dropped_creates"`
	Overflow  *float64        `json:"overflow"`
	Cached    float64         `json:"cached"`
	MostCache float64         `json:"cached_most"`
	Readings  []CarbonReading `json:"readings"`
}

// A CarbonReading is a value that a server reported, of its interval before.
type CarbonReading struct {
	At     float64 `json:"at_s"`
	Server string  `json:"server"`
	Count  string  `json:"count"`
	Value  float64 `json:"value"`
}

func newCarbonPoints(s *carbon.Second, acked bool) CarbonPoints {
	p := CarbonPoints{Nominal: s.Nominal, Sent: s.Sent, Outstanding: s.Outstanding, Skipped: s.Skipped,
		Lost: s.Lost, Unsure: s.Unsure,
		Blocked: rounded(s.Blocked.Seconds()), Failures: s.Failures, Broken: s.Broken,
		CPU: rounded(s.CPU.Seconds()), Memory: s.Memory}
	if acked {
		p.Acked = &s.Acked
	}
	return p
}

func newCarbon(c *loadreport.Carbon, o report.Options) *Carbon {
	r := c.Result
	d := loadreport.CarbonDocument(c, o)
	acked := r.Acknowledges()
	out := &Carbon{Schema: Schema, Kind: "carbon", Name: c.Name, Verdict: d.Verdict, Started: r.Started,
		Length:  c.Length().Seconds(),
		Alerts:  list(d.Alerts, func(a *report.Alert) string { return a.Text }),
		Address: r.Options.Address, Protocol: string(r.Options.Protocol), Agents: r.Options.Agents,
		Series:   r.Options.Metrics,
		Interval: r.Options.Interval.Seconds(), Stopped: c.Stopped, Total: newCarbonPoints(&r.Total, acked),
		Seconds: list(r.Seconds, func(s *carbon.Second) CarbonSecond {
			return CarbonSecond{rounded(s.From.Seconds()), rounded(s.To.Seconds()), s.Agents, newCarbonPoints(s, acked)}
		}),
		Connections: r.Connections, LastError: r.LastError}
	if len(c.Readings) > 0 {
		t := c.Tally()
		sum := func(what graphite.Count) *float64 { return known(t.Sum(what)) }
		out.Server = &CarbonServer{Received: sum(graphite.CountReceived), Committed: sum(graphite.CountCommitted),
			Updates: sum(graphite.CountUpdates), Created: sum(graphite.CountCreated),
			Dropped:  sum(graphite.CountDropped),
			Overflow: sum(graphite.CountOverflow), Cached: t.Cached(), MostCache: t.PeakCached(),
			Readings: list(c.Readings, func(x *graphite.Reading) CarbonReading {
				return CarbonReading{rounded(x.At.Sub(r.Started).Seconds()), x.Server, string(x.Count), x.Value}
			})}
	}
	return out
}
