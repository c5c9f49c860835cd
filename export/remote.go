package export

import (
	"context"
	"net/http"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/wire/prometheus"
)

// A RemoteWrite sends runs to a server that takes Prometheus' remote write.
type RemoteWrite struct{ to *receiver }

// NewRemoteWrite returns a sender to a URL, whose user and password are those of basic
// authentication.
func NewRemoteWrite(address string) (*RemoteWrite, error) {
	to, err := newReceiver(address, "http://127.0.0.1:9090/api/v1/write",
		"Prometheus takes it at /api/v1/write, where it was started with --web.enable-remote-write-receiver")
	if err != nil {
		return nil, err
	}
	return &RemoteWrite{to}, nil
}

// Run sends a run: the series that [OpenMetrics] writes, each with the labels project and run,
// so that runs do not mix. It returns how many values were taken.
func (r *RemoteWrite) Run(ctx context.Context, rec *kasoku.Recording, only Selection) (sent int, err error) {
	fs := newFamilies()
	request := &prometheus.WriteRequest{}
	add := func(values []Value) int {
		addSeries(request, fs, values, &rec.Run)
		return request.Points()
	}
	return inRequests(rec, only, add, func() error {
		body := request.Body()
		request = &prometheus.WriteRequest{}
		_, err := r.to.post(ctx, body, http.Header{"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"snappy"},
			"X-Prometheus-Remote-Write-Version": {"0.1.0"}})
		return err
	})
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
