package timeline

import (
	"strconv"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// A drawing is a timeline in the making: the run, the columns of its charts, and what
// is drawn so far.
type drawing struct {
	recorded.View
	grid     grid
	timeline *report.Timeline
}

// A plot is a chart in the making, with the series by which findings quote it.
type plot struct {
	report.Chart
	quotes []quote
}

// The charts by what they show. Each takes the run and the columns from its drawing,
// and may add a line of text to the timeline.
type (
	loadCharts     struct{ drawing } // requests and their latency
	cpuCharts      struct{ drawing } // one host's CPU, disks and pressure
	databaseCharts struct{ drawing } // connections, transactions, replication
	serverCharts   struct{ drawing } // nginx, Varnish, Redis, carbon
	goCharts       struct{ drawing } // what programs in Go publish
)

// newDrawing begins the timeline of a run.
func newDrawing(r recorded.View) drawing {
	g := NewGrid(r.Length())
	return drawing{r, g, &report.Timeline{ID: "timeline", Seconds: g.Seconds, Column: g.Column, Started: r.Wall(0)}}
}

// Section is the section of a run's charts; it has no block when the run
// recorded nothing over time.
func Section(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionTimeline, Title: "Timeline"}
	t := buildTimeline(r)
	if t == nil {
		return s
	}
	s.Sub = "One clock, one sample a second."
	switch {
	case t.Phased && len(t.Levels) > 0:
		s.Sub += " Shaded columns are initialize and every second level of the load."
	case t.Phased:
		s.Sub += " Shaded columns are initialize and load, as the traffic shows them."
	case len(t.Steps) > 0:
		s.Sub += " Shaded columns are load steps."
	}
	if len(t.Said) > 0 {
		s.Sub += " Red marks what the benchmark said went wrong."
	}
	if len(t.Lane) > 0 {
		s.Sub += " Amber marks the interval that a finding quotes."
	}
	s.Blocks = []report.Block{t}
	return s
}

// buildTimeline draws the charts of a run; nil when it recorded nothing over time.
func buildTimeline(r recorded.View) *report.Timeline {
	d := newDrawing(r)
	t := d.timeline
	for _, s := range r.Steps {
		t.Steps = append(t.Steps, report.Band{From: s.Interval.From.Seconds(), To: s.Interval.To.Seconds(),
			Label: stepLabel(s)})
	}
	d.phaseBands()
	d.levelBands()
	d.fillLane()
	d.fillSaid()
	load, database, server := loadCharts{d}, databaseCharts{d}, serverCharts{d}
	latency := load.latencies()
	d.addCharts(load.requestsChart, latency.percentilesChart, latency.heatChart)
	d.addHostCharts(func(one drawing) *plot { return cpuCharts{one}.cpuChart() })
	d.addGoCharts()
	d.addCharts(database.statementsChart, database.connectionsChart, database.newConnectionsChart, database.transactionsChart,
		database.replicationChart)
	d.addCharts(server.each()...)
	d.addCharts(server.senderChart, server.carbonChart, server.carbonCacheChart, server.carbonCreatesChart,
		server.carbonDiskChart)
	d.addHostCharts(func(one drawing) *plot { return cpuCharts{one}.memoryChart() })
	d.addHostCharts(func(one drawing) *plot { return cpuCharts{one}.diskChart() })
	d.addHostCharts(func(one drawing) *plot { return cpuCharts{one}.networkChart() })
	d.addHostCharts(func(one drawing) *plot { return cpuCharts{one}.pressureChart() })
	if len(t.Charts) == 0 {
		return nil
	}
	if g := d.grid; g.Column > 1 {
		t.Note = "Each column holds " + strconv.Itoa(g.Column) +
			" s: bars show the second in which most failed, areas the busiest, lines their range, percentiles all requests."
	}
	return t
}

// addCharts adds the charts that the whole run has; one that is nil is left out.
func (r drawing) addCharts(builds ...func() *plot) {
	for _, build := range builds {
		if c := build(); c != nil {
			r.bands(c)
			r.timeline.Charts = append(r.timeline.Charts, c.Chart)
		}
	}
}

// addHostCharts adds the chart that each host has of its own.
func (r drawing) addHostCharts(build func(drawing) *plot) {
	t := r.timeline
	r.Each(func(host recorded.View, place int, before string) {
		one := drawing{host, r.grid, t}
		sparks := len(t.Sparks)
		c := build(one)
		if c == nil {
			return
		}
		one.bands(c)
		c.Title = before + c.Title
		if place > 0 {
			c.ID += strconv.Itoa(place + 1)
		}
		for i := range t.Sparks[sparks:] {
			t.Sparks[sparks+i].Name = before + t.Sparks[sparks+i].Name
		}
		t.Charts = append(t.Charts, c.Chart)
	})
}

// addGoCharts adds what programs in Go published of themselves, those with the largest
// heap first.
func (r drawing) addGoCharts() {
	for i := range mostPrograms {
		for _, build := range []func(goCharts, *recorded.ProgramSeries) *plot{goCharts.heapChart, goCharts.goWaitsChart,
			goCharts.goroutinesChart} {
			r.addHostCharts(func(one drawing) *plot {
				if all := one.GoSeries(); i < len(all) {
					return nameAfter(&all[i], i, build(goCharts{one}, &all[i]))
				}
				return nil
			})
		}
		for k := range mostPrograms {
			r.addHostCharts(func(one drawing) *plot {
				if all := one.GoSeries(); i < len(all) && k < len(all[i].Pools) {
					return nameAfter(&all[i], mostPrograms*i+k, goCharts{one}.poolChart(&all[i].Pools[k]))
				}
				return nil
			})
		}
	}
}

// perSec prints an asked rate where there is little room: 1,000/s.
func perSec(v float64) string { return unit.Plain(v) + "/s" }
