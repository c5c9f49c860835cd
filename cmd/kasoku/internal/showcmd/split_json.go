package showcmd

import (
	"io"

	"github.com/kasoku/kasoku/diagnose/split"
	"github.com/kasoku/kasoku/report/encode"
)

// The JSON of split; docs/json.md has the fields.
type (
	// Split is all of it.
	Split struct {
		Schema   int           `json:"schema"`
		Kind     string        `json:"kind"`
		Run      string        `json:"run"`
		Verdict  string        `json:"verdict"`
		Load     splitLoad     `json:"load"`
		Hosts    []splitHost   `json:"hosts"`
		Members  []splitMember `json:"members"`
		Now      splitLayout   `json:"now"`
		Layouts  []splitLayout `json:"layouts"`
		First    *int          `json:"first"`
		Trip     splitRange    `json:"round_trip_s"`
		TripSaid bool          `json:"round_trip_given"`
		Unseen   []string      `json:"unseen"`
	}
	splitLoad struct {
		PerSec  float64  `json:"requests_per_s"`
		Counted string   `json:"counted_by"`
		Open    bool     `json:"open"`
		Clients *float64 `json:"clients"`
		Given   bool     `json:"clients_given"`
		Seconds int      `json:"seconds"`
		Score   *float64 `json:"score"`
	}
	splitHost struct {
		Name    string  `json:"name"`
		Cores   float64 `json:"cores"`
		Used    float64 `json:"used_cores"`
		Quota   bool    `json:"quota"`
		Memory  *uint64 `json:"memory_bytes"`
		Present bool    `json:"present"`
	}
	splitMember struct {
		ID     string  `json:"id"`
		Name   string  `json:"name"`
		Role   string  `json:"role"`
		Host   string  `json:"host"`
		Cores  float64 `json:"cores"`
		CPU    float64 `json:"cpu_per_request_s"`
		Memory *uint64 `json:"memory_bytes"`
		Stays  string  `json:"stays,omitempty"`
	}
	splitLayout struct {
		Moves  []string     `json:"moves"`
		Places []splitPlace `json:"places"`
		Gain   splitRange   `json:"gain_ratio"`
		PerSec splitRange   `json:"requests_per_s"`
		Score  *splitRange  `json:"score"`
		P50    *float64     `json:"p50_s"`
		Limit  string       `json:"limit"`
		Fits   *bool        `json:"memory_fits"`
	}
	splitPlace struct {
		Host    string   `json:"host"`
		Members []string `json:"members"`
		Busy    float64  `json:"busy_ratio"`
		Memory  uint64   `json:"memory_bytes"`
	}
	splitRange struct {
		Low  float64 `json:"low"`
		Mid  float64 `json:"mid"`
		High float64 `json:"high"`
	}
)

// known is a pointer to a value, nil where it is not known.
func known[T any](v T, is bool) *T {
	if !is {
		return nil
	}
	return &v
}

func (v *splitView) json(w io.Writer) error {
	p, s := v.plan, v.plan.Service
	out := Split{Schema: encode.Schema, Kind: "split", Run: v.rec.Run.ID, Verdict: v.verdict(),
		Hosts:   []splitHost{},
		Members: []splitMember{}, Layouts: []splitLayout{}, First: known(p.First,
			p.First >= 0), Trip: splitRange(p.Assume.Trip), TripSaid: v.rtt > 0,
		Unseen: append([]string{}, s.Blind...)}
	out.Load = splitLoad{s.Load.PerSec, s.Load.From, s.Load.Open, known(s.Load.Clients, !s.Load.Open), s.Load.Given,
		s.Seconds,
		known(s.Score, s.Score > 0)}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		out.Hosts = append(out.Hosts, splitHost{h.Name, h.Cores, h.Used, h.Quota, known(h.Memory, h.Memory > 0),
			h.Present})
	}
	for i := range s.Members {
		m := &s.Members[i]
		out.Members = append(out.Members, splitMember{m.ID, m.Name, string(m.Role), s.Hosts[m.Host].Name, m.Cores,
			m.CPU,
			known(m.RSS, m.RSS > 0), m.Fixed})
	}
	out.Now = v.layoutJSON(&p.Now)
	for i := range p.Layouts {
		out.Layouts = append(out.Layouts, v.layoutJSON(&p.Layouts[i]))
	}
	return encode.JSON(w, out)
}

func (v *splitView) layoutJSON(x *split.Prediction) splitLayout {
	p := v.plan
	out := splitLayout{Moves: append([]string{}, p.MoveWords(x.Layout)...), Places: []splitPlace{},
		Gain:   splitRange(x.Gain),
		PerSec: splitRange(x.PerSec), Limit: x.Limit, P50: known(x.P50.Seconds(), x.Known50),
		Fits: known(x.Fits == split.FitYes, x.Fits != split.FitUnknown), Score: known(splitRange(x.Score),
			p.Service.Score > 0)}
	for k := range p.Hosts {
		if ids := p.IDsOn(x.Layout, k); len(ids) > 0 {
			out.Places = append(out.Places, splitPlace{p.Hosts[k].Name, ids, x.Busy[k], x.Bytes[k]})
		}
	}
	return out
}
