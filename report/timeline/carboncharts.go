package timeline

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/report"
)

// The names of carbon's own metrics, and of go-carbon's.
var (
	carbonReceived = []string{graphite.MetricsReceived, graphite.TCPMetricsReceived, graphite.UDPMetricsReceived,
		graphite.PickleMetricsReceived}
	carbonCommitted = []string{graphite.CommittedPoints, graphite.PersisterCommittedPoints}
	carbonRefused   = []string{graphite.DroppedCreates, graphite.CacheOverflow, graphite.PersisterThrottledCreates,
		graphite.CarbonserverThrottledCreates, graphite.PersisterOooDiscardedPoints}
	carbonCreated = []string{graphite.Creates, graphite.PersisterCreated}
	carbonCache   = []string{graphite.CacheSize}
)

// carbonChart shows what carbon received and wrote. It reports on itself once a minute unless it is set,
// of the interval that is over, and that is what is drawn until it reports again.
func (r serverCharts) carbonChart() *plot {
	c := &plot{Chart: report.Chart{ID: "carbon", Title: "Carbon", Unit: "points of the interval that it reported last",
		Places: 0,
		Height: lowHeight}}
	r.addGauges(c, "received", "s5", carbonReceived)
	r.addGauges(c, "written", "s2", carbonCommitted)
	r.addGauges(c, "dropped or put off", "bad", carbonRefused)
	return r.finishGauges(c)
}

// carbonCreatesChart shows the series that carbon created.
func (r serverCharts) carbonCreatesChart() *plot {
	c := &plot{Chart: report.Chart{ID: "carbon-creates", Title: "Carbon's new series",
		Unit: "files created in the interval that it reported", Places: 0, Height: lowHeight}}
	r.addGauges(c, "created", "s3", carbonCreated)
	return r.finishGauges(c)
}

// carbonDiskChart shows how many operations the disks of the host did each second, where carbon reports of itself: its
// writes are small, and their number is what a disk has too little of.
func (r serverCharts) carbonDiskChart() *plot {
	if len(r.FindAll(graphite.Name, graphite.CacheSize)) == 0 {
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "carbon-disk", Title: "Disk operations", Unit: "per second, of all disks",
		Height: lowHeight}}
	top := math.NaN()
	for _, x := range []struct{ key, name, colour string }{{host.DiskWrites, "writes", "s2"},
		{host.DiskReads, "reads", "s5"}} {
		var parts [][]float64
		for _, s := range r.FindAll(host.Name, x.key) {
			parts = append(parts, r.grid.rates(s))
		}
		vs := AddUp(parts...)
		m := report.Largest(vs)
		if !(m > 0) {
			continue
		}
		top = report.Largest([]float64{top, m})
		vs = r.grid.values(vs)
		c.quotes = append(c.quotes, quote{host.Name, x.key})
		c.Series = append(c.Series, report.ChartSeries{Name: x.name, Colour: x.colour, Form: report.Stairs,
			Spans: r.grid.Blocks(vs), Values: vs})
	}
	return r.finish(c, host.Name, top)
}

// senderChart shows what who sends points, lines or events had to send each second, and what of
// it was sent and acknowledged; nil where no one publishes that.
func (r serverCharts) senderChart() *plot {
	c := &plot{Chart: report.Chart{ID: "sender", Title: "Sent", Unit: "per second", Height: lowHeight}}
	top := math.NaN()
	for _, x := range []struct{ key, name, colour string }{{expvar.Due, "due", "fg"}, {expvar.Sent, "sent", "s5"},
		{expvar.Acknowledged, "acknowledged", "s2"}} {
		var parts [][]float64
		for _, s := range r.FindAll(expvar.Name, x.key) {
			k := s.Key
			if k.Name = expvar.Outstanding; r.Find(k) != nil { // a client's requests are sent, too
				parts = append(parts, r.grid.rates(s))
			}
		}
		vs := AddUp(parts...)
		m := report.Largest(vs)
		if !(m > 0) {
			continue
		}
		top = report.Largest([]float64{top, m})
		vs = r.grid.values(vs)
		c.quotes = append(c.quotes, quote{expvar.Name, x.key})
		c.Series = append(c.Series, report.ChartSeries{Name: x.name, Colour: x.colour, Form: report.Stairs,
			Spans: r.grid.Blocks(vs), Values: vs})
	}
	return r.finish(c, expvar.Name, top)
}

// carbonCacheChart shows the points that carbon had yet to write.
func (r serverCharts) carbonCacheChart() *plot {
	c := &plot{Chart: report.Chart{ID: "carbon-cache", Title: "Carbon's cache",
		Unit: "points to be written, as last reported", Places: 0,
		Height: lowHeight}}
	r.addGauges(c, "in the cache", "s4", carbonCache)
	return r.finishGauges(c)
}

// addGauges adds the sum of gauges that hold until the next value. Of several servers each
// counts with what it reported last.
func (r serverCharts) addGauges(c *plot, name, colour string, names []string) {
	var parts [][]float64
	caches := slices.ContainsFunc(names, func(n string) bool {
		return slices.ContainsFunc(r.FindAll(graphite.Name, n),
			ofCache)
	})
	for _, n := range names {
		c.quotes = append(c.quotes, quote{graphite.Name, n})
		for _, s := range r.FindAll(graphite.Name, n) {
			if caches && !ofCache(s) {
				continue // a point that a relay passes on is counted by the cache
			}
			parts = append(parts, r.grid.held(s))
		}
	}
	vs := AddUp(parts...)
	if m := report.Largest(vs); math.IsNaN(m) || colour == "bad" && m == 0 {
		return
	}
	vs = r.grid.values(vs)
	c.Series = append(c.Series, report.ChartSeries{Name: name, Colour: colour, Form: report.Stairs,
		Spans: r.grid.Blocks(vs), Values: vs})
}

// ofCache reports whether a series is of a carbon-cache or a go-carbon, which write;
// relays and aggregators pass on.
func ofCache(s *kasoku.Series) bool { return strings.HasPrefix(s.Key.Instance, "agents.") }

// held is the last value of a gauge at the end of each second.
func (g grid) held(s *kasoku.Series) []float64 {
	out := nan(g.Seconds)
	for i := range out {
		if v, ok := s.At(time.Duration(i+1)*time.Second - 1); ok {
			out[i] = v
		}
	}
	return out
}

// finishGauges finishes a chart; nil when nothing but zeros was reported.
func (r serverCharts) finishGauges(c *plot) *plot {
	top := math.NaN()
	for _, s := range c.Series {
		top = report.Largest([]float64{top, report.Largest(s.Values)})
	}
	return r.finish(c, graphite.Name, top)
}
