package graphite

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// A Series is what a render API knows of one target: its points that have a value,
// oldest first.
type Series struct {
	Target string
	Points []Point // their Path is Target
}

// ParseRender reads the JSON of a render API. It has two forms: that of graphite-web,
// and that of the carbonserver in go-carbon, which has no functions and is meant to
// be asked by another server.
//
//	[{"target": "a.b", "datapoints": [[0.5, 1763700000], [null, 1763700060]]}]
//	{"metrics": [{"name": "a.b", "startTime": 1763700000, "stopTime": 1763700120, "stepTime": 60, "values": [0.5, 0], "isAbsent": [false, true]}]}
//
// Sources: graphite.readthedocs.io, "The Render URL API"; go-carbon 0.18.0,
// carbonserver/render.go.
func ParseRender(body []byte) ([]Series, error) {
	var web []webSeries
	err := json.Unmarshal(body, &web)
	if err == nil {
		return convertSeries(web, webSeries.series)
	}
	var server struct {
		Metrics []serverSeries `json:"metrics"`
	}
	if json.Unmarshal(body, &server) == nil && server.Metrics != nil {
		return convertSeries(server.Metrics, serverSeries.series)
	}
	return nil, fmt.Errorf("the answer is not JSON of the render API: %w", err)
}

func convertSeries[T any](all []T, series func(T) (Series, error)) ([]Series, error) {
	out := make([]Series, len(all))
	for i, x := range all {
		var err error
		if out[i], err = series(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A webSeries is graphite-web's: pairs of a value, which may be null, and a time.
type webSeries struct {
	Target     string       `json:"target"`
	Datapoints [][]*float64 `json:"datapoints"`
}

func (w webSeries) series() (Series, error) {
	s := Series{Target: w.Target}
	for _, p := range w.Datapoints {
		if len(p) != 2 || p[1] == nil || *p[1] < 0 || *p[1] > math.MaxUint32 {
			return s, errors.New("a point is no pair of value and time")
		}
		if p[0] != nil {
			s.Points = append(s.Points, Point{Path: w.Target, Time: int64(*p[1]), Value: *p[0]})
		}
	}
	return s, nil
}

// A serverSeries is carbonserver's: values at equal distances. Without one there is a
// zero, and it is absent.
type serverSeries struct {
	Name     string    `json:"name"`
	Start    uint32    `json:"startTime"`
	Step     uint32    `json:"stepTime"`
	Values   []float64 `json:"values"`
	IsAbsent []bool    `json:"isAbsent"`
}

func (w serverSeries) series() (Series, error) {
	s := Series{Target: w.Name}
	if len(w.Values) != len(w.IsAbsent) {
		return s, fmt.Errorf("%d values, %d marks of absence", len(w.Values), len(w.IsAbsent))
	}
	for i, v := range w.Values {
		if !w.IsAbsent[i] {
			s.Points = append(s.Points, Point{Path: w.Name, Time: int64(w.Start) + int64(i)*int64(w.Step), Value: v})
		}
	}
	return s, nil
}
