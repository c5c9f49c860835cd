package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/onehost"
	"github.com/kasoku/kasoku/wire/prometheus"
)

// mostPoints is how many values one request holds: servers refuse bodies of some megabytes, and
// a value takes 20 bytes.
const mostPoints = 10_000

// writeWithin bounds one request.
const writeWithin = 30 * time.Second

// A RemoteWrite sends runs to a server that takes Prometheus' remote write.
type RemoteWrite struct {
	address *url.URL
	client  *http.Client
	Sent    int // values that were taken
}

// NewRemoteWrite returns a sender to a URL, whose user and password are those of basic
// authentication.
func NewRemoteWrite(address string) (*RemoteWrite, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the address is no URL such as http://127.0.0.1:9090/api/v1/write")
	}
	client := onehost.NewClient(&http.Transport{}, writeWithin)
	// A POST that is sent on becomes a GET, which brings no values and may be answered well.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &RemoteWrite{address: u, client: client}, nil
}

// Run sends a run: the series that [OpenMetrics] writes, each with the labels project and run,
// so that runs do not mix.
func (r *RemoteWrite) Run(ctx context.Context, rec *kasoku.Recording, only Selection) error {
	fs := newFamilies()
	request := &prometheus.WriteRequest{}
	for _, s := range SeriesOf(rec) {
		if !only.Takes(s.Key.Source, s.Key.Name) {
			continue
		}
		for values := range slices.Chunk(appendSeries(nil, &s, Raw), mostPoints) {
			addSeries(request, fs, values, &rec.Run)
			if request.Points() < mostPoints {
				continue
			}
			if err := r.send(ctx, request); err != nil {
				return err
			}
			request = &prometheus.WriteRequest{}
		}
	}
	return r.send(ctx, request)
}

// addSeries adds values of one series.
func addSeries(w *prometheus.WriteRequest, fs *families, values []Value, run *kasoku.Run) {
	var f *family
	points := make([]prometheus.Point, 0, len(values))
	for _, v := range values {
		f = fs.add(v)
		points = append(points, prometheus.Point{At: wall(run.Started, v.At), Value: f.values[0].Value})
		f.values = f.values[:0]
	}
	if f == nil {
		return
	}
	name := f.name
	if f.kind == kasoku.Counter {
		name += rawSuffix
	}
	key := values[0].Key
	w.Series(name, []prometheus.Label{{Name: "host", Value: key.Host}, {Name: "entity", Value: key.Instance},
		{Name: "project", Value: run.Project}, {Name: "run", Value: run.ID}}, points)
}

// A Refusal is an answer of a server that did not take values.
type Refusal struct {
	Status string
	Text   string // of the answer, its first line
}

// Error returns the status and what the server says.
func (r *Refusal) Error() string { return strings.TrimSuffix(r.Status+": "+r.Text, ": ") }

// Hint returns what to do about it.
func (r *Refusal) Hint() string {
	switch {
	case strings.Contains(r.Text, "out of order"):
		return "the server has it already, or newer values of the same run"
	case strings.Contains(r.Text, "out of bounds") || strings.Contains(r.Text, "too old"):
		return "the run is older than what the server takes: out_of_order_time_window in Prometheus' storage.tsdb, or " +
			"`kasoku export --to openmetrics` and promtool"
	case strings.HasPrefix(r.Status, "3"):
		return "the address leads to another, to which nothing is sent: does it ask for a login, or lack https or a path?"
	case strings.HasPrefix(r.Status, "404"):
		return "Prometheus takes it at /api/v1/write, where it was started with --web.enable-remote-write-receiver"
	}
	return ""
}

// send posts what a request holds.
func (r *RemoteWrite) send(ctx context.Context, w *prometheus.WriteRequest) error {
	if w.Points() == 0 {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.address.String(), bytes.NewReader(w.Body()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Content-Encoding", "snappy")
	req.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	req.Header.Set("User-Agent", "kasoku")
	res, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("send to %s: %w", r.address.Redacted(), err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if res.StatusCode/100 != 2 {
		line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		return fmt.Errorf("send to %s: %w", r.address.Redacted(), &Refusal{res.Status, line})
	}
	r.Sent += w.Points()
	return nil
}
