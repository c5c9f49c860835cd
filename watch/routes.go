package watch

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/nginx"
)

// routes are those of the access logs: live of the last stretches that were added up,
// in a run of the last seconds.
func (l look) routes() table {
	if !l.has(accessName) || len(l.Rec.Endpoints) > 0 {
		return l.recordedRoutes()
	}
	t := table{id: "routes", title: "routes", columns: []column{
		{name: "route", text: true, wide: true}, {name: "requests", unit: "/s"},
		{name: "p50", unit: "ms", drop: 2}, {name: "p99", unit: "ms"},
		{name: "4xx", unit: "/s", drop: 1}, {name: "5xx", unit: "/s"}, {name: "sent", unit: "kB/s", drop: 3},
	}, sorts: []int{1, 3, 5, 6, 0}}
	look := l.routesAt()
	if look == nil {
		return t
	}
	long := float64(look.to - look.from)
	t.title = fmt.Sprintf("routes, %.0f s to %s", long, l.clock(look.to))
	for i := range look.rows {
		e := &look.rows[i]
		r := t.newRow()
		r.words[0] = clean(e.method + " " + e.route)
		r.values[1] = float64(e.count) / long
		if e.timed {
			r.values[2], r.values[3] = e.middle.Seconds()*1e3, e.slow.Seconds()*1e3
		}
		r.values[4], r.values[5], r.values[6] = float64(e.client)/long, float64(e.failed)/long,
			float64(e.bytes)/1e3/long
		if e.failed > 0 {
			r.tone = wrong
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// routesAt returns the latest look at routes up to a second; nil when that was long ago.
func (l look) routesAt() *routeLook {
	for i := len(l.routeLooks) - 1; i >= 0; i-- {
		one := &l.routeLooks[i]
		if one.to > l.at {
			continue
		}
		if l.at-one.to > 2*max(recent, one.to-one.from) {
			return nil
		}
		return one
	}
	return nil
}

// recordedRoutes are those of a run.
func (l look) recordedRoutes() table {
	t := table{id: "routes", title: fmt.Sprintf("routes, last %d s", recent), columns: []column{
		{name: "route", text: true, wide: true}, {name: "requests", unit: "/s"}, {name: "5xx", unit: "/s"},
	}, sorts: []int{1, 2, 0}}
	for i := range l.Rec.Endpoints {
		e := &l.Rec.Endpoints[i]
		var count, failed uint64
		for s := l.at - recent; s < l.at; s++ {
			count, failed = count+e.Seconds[s].Count, failed+e.Seconds[s].Failed
		}
		if count == 0 {
			continue
		}
		r := t.newRow()
		r.words[0] = clean(e.Method + " " + e.Route)
		r.values[1], r.values[2] = float64(count)/recent, float64(failed)/recent
		if failed > 0 {
			r.tone = wrong
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// answered returns how many requests the access logs had in each second, those of some
// classes of status alone where classes are named. A run knows 5xx alone.
func (d *Data) answered(s span, class ...string) []float64 {
	if all := d.all(accessName, "requests"); len(all) > 0 {
		var want []*kasoku.Series
		for _, one := range all {
			for _, c := range class {
				if one.Key.Instance == c {
					want = append(want, one)
				}
			}
			if len(class) == 0 {
				want = append(want, one)
			}
		}
		return d.sum(want, s.from, s.to)
	}
	out := d.values(nil, s.from, s.to)
	if len(d.Rec.Endpoints) == 0 || len(class) > 0 && class[0] != "5xx" {
		return out
	}
	for i := range out {
		second := s.from + i - 1 // in which it ended; it is shown where the second ends
		if second < 0 || time.Duration(second)*time.Second >= d.Rec.Run.Length {
			continue
		}
		var n uint64
		for j := range d.Rec.Endpoints {
			one := d.Rec.Endpoints[j].Seconds[second]
			if len(class) > 0 {
				n += one.Failed
			} else {
				n += one.Count
			}
		}
		out[i] = float64(n)
	}
	return out
}

// logMeters are those of the access logs.
func (d *Data) logMeters(s span) []meter {
	all := meter{name: "requests", rank: 4, exact: true, unit: "/s", chart: 3, v: d.answered(s)}
	if !all.known() {
		return nil
	}
	for _, name := range classes[1:] {
		if v := last(d.answered(span{s.to - 1, s.to}, name)); v > 0 || !math.IsNaN(v) && name != "1xx" {
			all.parts = append(all.parts, name+" "+unit.Count(int64(math.Round(v))))
		}
	}
	failed := meter{name: "answers 5xx", rank: 3, exact: true, unit: "/s", bad: true, v: d.answered(s, "5xx")}
	if d.Load.Any(s.from-1, s.to-1) { // which says the same
		all.rank, all.chart, failed.rank = 6, 0, 6
	}
	out := []meter{all}
	for _, m := range []meter{
		{name: "answers 4xx", rank: 6, exact: true, unit: "/s", v: d.answered(s, "4xx")},
		failed,
	} {
		if m.top() > 0 {
			out = append(out, m)
		}
	}
	return append(out, meter{name: "answered p99", rank: 5, unit: "ms", log: true, most: "log",
		v: scale(d.values(d.one(accessName, "p99"), s.from, s.to), 1e3)})
}

// requestsAt is how many requests a web server answered: by its access log, else as it
// counts them.
func (d *Data) requestsAt(at int) float64 {
	if v := last(d.answered(span{at - 1, at})); !math.IsNaN(v) {
		return v
	}
	return d.valueAt(d.one(nginx.Name, nginx.Requests), at)
}
