package timeline

import (
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// A rated is a counter of a chart of rates.
type rated struct{ name, label, colour string }

// nginxChart shows what the connections of a web server did: those that wait are
// kept alive between two requests.
func (r serverCharts) nginxChart() *plot {
	c := &plot{Chart: report.Chart{ID: "nginx", Title: "nginx connections", Height: lowHeight}}
	top := math.NaN()
	for _, x := range []rated{{"reading", "reading", "s4"}, {"writing", "writing", "s2"},
		{"waiting", "waiting", "s5"}} {
		s := r.Find(kasoku.Key{Source: "nginx", Name: x.name})
		c.quotes = append(c.quotes, quote{"nginx", x.name})
		c.line(r.grid, x.label, x.colour, s)
		if s != nil {
			top = report.Largest([]float64{top, report.Largest(r.grid.gauge(s))})
		}
	}
	return r.finish(c, "nginx", top)
}

// varnishChart shows what a cache answered by itself, and what it asked for.
func (r serverCharts) varnishChart() *plot {
	return r.ratesChart("varnish", []rated{
		{"MAIN.cache_hit", "hits", "s2"}, {"MAIN.cache_miss", "misses", "s1"}, {"MAIN.s_pass", "passed on", "s4"},
		{"MAIN.n_lru_nuked", "thrown out", "s3"}, {"MAIN.backend_fail", "backend failed", "bad"},
	})
}

// redisChart shows the commands of a Redis, and the reads that found nothing.
func (r serverCharts) redisChart() *plot {
	return r.ratesChart("redis", []rated{
		{"total_commands_processed", "commands", "s2"}, {"keyspace_hits", "hits", "s5"},
		{"keyspace_misses", "misses", "s1"},
		{"evicted_keys", "evicted", "s3"}, {"rejected_connections", "refused", "bad"},
	})
}

// serverTitles are the names of servers by their sources.
var serverTitles = map[string]string{"varnish": "Varnish", "redis": "Redis"}

// ratesChart shows those counters of a server that moved, each second. The first of
// the list has a line in the terminal, too.
func (r serverCharts) ratesChart(source string, list []rated) *plot {
	c := &plot{Chart: report.Chart{ID: source, Title: serverTitles[source], Unit: "per second", Height: lowHeight}}
	top := math.NaN()
	for i, x := range list {
		s := r.Find(kasoku.Key{Source: source, Name: x.name})
		if s == nil {
			continue
		}
		c.quotes = append(c.quotes, quote{source, x.name})
		vs := r.grid.rates(s)
		m := report.Largest(vs)
		if !(m > 0) {
			continue
		}
		top = report.Largest([]float64{top, m})
		vs = r.grid.values(vs)
		if i == 0 {
			r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: c.Title, Values: vs,
				Peak: "max " + unit.Sig3(m) + " " + x.label + "/s"})
		}
		c.Series = append(c.Series, report.ChartSeries{Name: x.label, Colour: x.colour, Form: report.Stairs,
			Spans:  r.grid.Blocks(vs),
			Values: vs})
	}
	return r.finish(c, source, top)
}

// finish gives a chart its axis and gaps a chart; nil when there was nothing.
func (r drawing) finish(c *plot, source string, top float64) *plot {
	if len(c.Series) == 0 || !(top > 0) {
		return nil
	}
	c.Axis = report.LinearAxis(top, nil, unit.Plain)
	c.Peaks()
	r.gaps(c, source)
	return c
}
