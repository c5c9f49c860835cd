package extract

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// second is a LoadSecond with its histograms encoded.
type second struct {
	kasoku.LoadSecond
	Latency   []byte `json:",omitempty"`
	SendDelay []byte `json:",omitempty"`
	Service   []byte `json:",omitempty"`
}

// endpoint is an Endpoint with its histogram encoded, where [Keys] keep it.
type endpoint struct {
	kasoku.Endpoint
	Latency []byte `json:",omitempty"`
}

// query is a Query without its histogram, which no rule reads.
type query struct {
	kasoku.Query
	Latency []byte `json:",omitempty"`
}

func packSeconds(in []kasoku.LoadSecond) []second {
	type part struct {
		step   int
		target string
	}
	first := map[part]int{}
	delay, service := map[part]*histogram.Histogram{}, map[part]*histogram.Histogram{}
	out := make([]second, len(in))
	for i := range in {
		s := &in[i]
		p := part{s.Step, s.Target}
		if _, ok := first[p]; !ok {
			first[p], delay[p], service[p] = i, histogram.New(), histogram.New()
		}
		delay[p].Merge(s.SendDelay)
		service[p].Merge(s.Service)
		out[i] = second{LoadSecond: *s, Latency: encoded(s.Latency)}
	}
	for p, i := range first {
		out[i].SendDelay, out[i].Service = encoded(delay[p]), encoded(service[p])
	}
	return out
}

// encoded returns the histogram's encoding, nothing when it is empty.
func encoded(h *histogram.Histogram) []byte {
	if h.Count() == 0 {
		return nil
	}
	b, err := h.AppendBinary(nil)
	if err != nil {
		return nil // its documentation: never
	}
	return b
}

func decoded(b []byte) (*histogram.Histogram, error) {
	h := histogram.New()
	if len(b) == 0 {
		return h, nil
	}
	return h, h.UnmarshalBinary(b)
}

func (s second) unpack() (out kasoku.LoadSecond, err error) {
	out = s.LoadSecond
	if out.Latency, err = decoded(s.Latency); err != nil {
		return out, fmt.Errorf("latency: %w", err)
	}
	if out.SendDelay, err = decoded(s.SendDelay); err != nil {
		return out, fmt.Errorf("send delay: %w", err)
	}
	if out.Service, err = decoded(s.Service); err != nil {
		return out, fmt.Errorf("service: %w", err)
	}
	return out, nil
}

func packEndpoints(in []kasoku.Endpoint, host func(string) string, latencies bool) []endpoint {
	out := make([]endpoint, len(in))
	for i := range in {
		out[i] = endpoint{Endpoint: in[i]}
		out[i].Host = host(in[i].Host)
		if latencies && in[i].Latency != nil {
			out[i].Latency = encoded(in[i].Latency)
		}
	}
	return out
}

func (e endpoint) unpack() (out kasoku.Endpoint, err error) {
	out = e.Endpoint
	out.Latency, err = decoded(e.Latency)
	return out, err
}

func packQueries(in []kasoku.Query, host func(string) string) []query {
	var out []query
	for i := range in {
		q := query{Query: in[i]}
		q.Host, q.Fingerprint, q.Sample = host(q.Host), short(q.Fingerprint), short(q.Sample)
		out = append(out, q)
	}
	slices.SortStableFunc(out, func(a, b query) int {
		switch {
		case a.Calls > b.Calls:
			return -1
		case a.Calls < b.Calls:
			return 1
		}
		return 0
	})
	return out[:min(len(out), maxQueries)]
}

func (q query) unpack() (out kasoku.Query, err error) {
	out = q.Query
	out.Latency, err = decoded(q.Latency)
	return out, err
}

// field keeps a text on one line and in one column.
func field(s string) string {
	if s != "" && s[0] != '"' && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f ||
			r == '�' || r == 0x85 || r == 0x2028
	}) {
		return s
	}
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

func unfield(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	out, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("bad text %s", strconv.Quote(s))
	}
	return out, nil
}

func packSeries(rec *kasoku.Recording, want []kasoku.Key, host func(string) string) []byte {
	var b []byte
	for i := range rec.Series {
		s := &rec.Series[i]
		if !slices.ContainsFunc(want, func(k kasoku.Key) bool {
			return k.Source == s.Key.Source &&
				k.Name == s.Key.Name
		}) {
			continue
		}
		kind := "gauge"
		if s.Kind == kasoku.Counter {
			kind = "counter"
		}
		for _, f := range []string{host(s.Key.Host), s.Key.Source, s.Key.Name, s.Key.Instance, kind, s.Unit} {
			b = append(append(b, field(f)...), '\t')
		}
		for k, p := range s.Points {
			if k > 0 {
				b = append(b, ' ')
			}
			b = strconv.AppendInt(b, p.At.Microseconds(), 10)
			b = append(b, ':')
			b = strconv.AppendFloat(b, p.Value, 'g', -1, 64)
		}
		b = append(b, '\n')
	}
	return b
}

func parseSeries(rec *kasoku.Recording, data []byte) error {
	return lines(data, 7, func(f []string) error {
		s := kasoku.Series{Key: kasoku.Key{Host: f[0], Source: f[1], Name: f[2], Instance: f[3]}, Unit: f[5]}
		switch f[4] {
		case "counter":
			s.Kind = kasoku.Counter
		case "gauge":
		default:
			return fmt.Errorf("bad kind %q", f[4])
		}
		for p := range strings.FieldsSeq(f[6]) {
			at, value, _ := strings.Cut(p, ":")
			us, err := strconv.ParseInt(at, 10, 64)
			v, err2 := strconv.ParseFloat(value, 64)
			if err != nil || err2 != nil {
				return fmt.Errorf("bad point %q", p)
			}
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(us) * time.Microsecond, Value: v})
		}
		rec.Series = append(rec.Series, s)
		return nil
	})
}

// packSettings keeps the named variables of the server, all settings of other
// scopes, and what differs from the other run.
func packSettings(rec, other *kasoku.Recording, want []string, host func(string) string) []byte {
	var b []byte
	for _, s := range rec.Settings {
		keep := s.Scope != "mysql" && s.Scope != "sysctl" || slices.Contains(want, s.Name)
		if other != nil && !keep {
			was, ok := other.Setting(s.Scope, s.Name)
			keep = (!ok || was != s.Value) && !strings.Contains(s.Value, "/")
		}
		if !keep {
			continue
		}
		name := s.Name
		if strings.HasPrefix(name, "/") {
			name = path.Base(name) // of a log
		}
		b = append(b, strings.Join([]string{field(host(s.Host)), field(s.Scope), field(name), field(s.Value)}, "\t")...)
		b = append(b, '\n')
	}
	return b
}

func parseSettings(rec *kasoku.Recording, data []byte) error {
	return lines(data, 4, func(f []string) error {
		rec.Settings = append(rec.Settings, kasoku.Setting{Host: f[0], Scope: f[1], Name: f[2], Value: f[3]})
		return nil
	})
}

// lines calls do with the columns of every line, of which there must be n.
func lines(data []byte, n int, do func([]string) error) error {
	at := 0
	for line := range strings.Lines(string(data)) {
		at++
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != n {
			return fmt.Errorf("line %d: %d columns instead of %d", at, len(f), n)
		}
		var err error
		for i := range f {
			if f[i], err = unfield(f[i]); err != nil {
				return fmt.Errorf("line %d: %w", at, err)
			}
		}
		if err := do(f); err != nil {
			return fmt.Errorf("line %d: %w", at, err)
		}
	}
	return nil
}
