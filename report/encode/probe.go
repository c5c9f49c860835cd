package encode

import (
	"io"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/probe"
)

// ProbeJSON writes what a probe counted.
func ProbeJSON(w io.Writer, res *probe.Result, skipped []probe.Skipped) error {
	out := Probe{Schema: Schema, Kind: "probe", Source: res.Source, Requests: res.Requests,
		Length: res.Length.Seconds(), Logged: res.Logged,
		Questions: known(res.Questions, res.Questions >= 0), Endpoints: []ProbeEndpoint{}}
	for i := range res.Asked {
		a := &res.Asked[i]
		e := ProbeEndpoint{Method: a.Method, Route: a.Route, Requests: a.Requests, Failed: a.Failed, Error: a.Error,
			Codes:      map[string]int{},
			Statements: a.Mean, Least: a.Least, Most: a.Most, Runs: []ProbeRun{}}
		for code, n := range a.Codes {
			e.Codes[strconv.Itoa(code)] = n
		}
		for j := range res.Callers {
			if x := &res.Callers[j]; x.Method == a.Method && x.Route == a.Route {
				e.Runs = append(e.Runs, newProbeRun(x, res.Queries))
			}
		}
		out.Endpoints = append(out.Endpoints, e)
	}
	out.Background = list(res.Background, func(b *probe.Background) ProbeBackground {
		return ProbeBackground{b.QueryID, b.Fingerprint, b.Count, b.PerSec}
	})
	out.Skipped = list(skipped, func(s *probe.Skipped) ProbeSkipped { return ProbeSkipped{s.Endpoint, s.Why} })
	out.Warnings = list(res.Warnings, func(w *kasoku.Warning) ProbeWarning {
		return ProbeWarning{w.Code, w.Text,
			w.Hint}
	})
	return JSON(w, out)
}

// A Probe is what endpoints run that were asked alone.
type Probe struct {
	Schema     int               `json:"schema"`
	Kind       string            `json:"kind"` // probe
	Source     string            `json:"source"`
	Requests   int               `json:"requests"`
	Length     float64           `json:"length_s"`
	Logged     uint64            `json:"logged"`
	Questions  *float64          `json:"questions"`
	Endpoints  []ProbeEndpoint   `json:"endpoints"`
	Background []ProbeBackground `json:"background"`
	Skipped    []ProbeSkipped    `json:"skipped"`
	Warnings   []ProbeWarning    `json:"warnings"`
}

// A ProbeEndpoint is an endpoint that was asked.
type ProbeEndpoint struct {
	Method     string         `json:"method"`
	Route      string         `json:"route"`
	Requests   int            `json:"requests"`
	Codes      map[string]int `json:"codes"`
	Failed     int            `json:"failed"`
	Error      string         `json:"error,omitempty"`
	Statements float64        `json:"statements_per_request"`
	Least      int            `json:"least"`
	Most       int            `json:"most"`
	Runs       []ProbeRun     `json:"runs"`
}

// A ProbeRun is a class of statements that an endpoint runs.
type ProbeRun struct {
	ID          string   `json:"id"`
	Fingerprint string   `json:"fingerprint"`
	Class       string   `json:"class"`
	PerRequest  float64  `json:"per_request"`
	Least       float64  `json:"least"`
	Most        float64  `json:"most"`
	Share       float64  `json:"share_ratio"`
	Loop        bool     `json:"loop"`
	List        string   `json:"list,omitempty"`
	Slope       *float64 `json:"slope"`
	Correlation *float64 `json:"correlation"`
	Note        string   `json:"note,omitempty"`
	Text        string   `json:"text"`
}

// ProbeBackground is a class of statements that came while nothing was asked.
type ProbeBackground struct {
	ID          string  `json:"id"`
	Fingerprint string  `json:"fingerprint"`
	Count       int     `json:"count"`
	PerSec      float64 `json:"per_s"`
}

// ProbeSkipped is an endpoint that was not asked.
type ProbeSkipped struct {
	Endpoint string `json:"endpoint"`
	Why      string `json:"why"`
}

// ProbeWarning is what to know of the counts.
type ProbeWarning struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

func newProbeRun(x *kasoku.Caller, queries []kasoku.Query) ProbeRun {
	r := ProbeRun{ID: x.QueryID, Class: string(x.Class), PerRequest: x.PerRequest, Least: x.Least, Most: x.Most,
		Share: x.Share, Loop: x.Loop,
		List: x.List, Slope: known(x.Slope, x.List != ""), Correlation: known(x.Correlation, x.List != ""),
		Note: x.Note}
	if i := slices.IndexFunc(queries, func(q kasoku.Query) bool { return q.ID == x.QueryID }); i >= 0 {
		r.Fingerprint = queries[i].Fingerprint
	}
	r.Text = probe.Sentence(x, r.Fingerprint)
	return r
}
