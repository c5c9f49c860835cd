package report

import (
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/unit"
)

// A rated is a counter of a chart of rates.
type rated struct{ name, label, colour string }

// nginxChart shows what the connections of a web server did: those that wait are
// kept alive between two requests.
func (r rec) nginxChart(g grid, _ *Timeline) *Chart {
	c := &Chart{ID: "nginx", Title: "nginx connections", Height: lowHeight}
	top := math.NaN()
	for _, x := range []rated{{"reading", "reading", "s4"}, {"writing", "writing", "s2"}, {"waiting", "waiting", "s5"}} {
		s := r.Find(kasoku.Key{Source: "nginx", Name: x.name})
		c.quotes = append(c.quotes, quote{"nginx", x.name})
		c.line(g, x.label, x.colour, s)
		if s != nil {
			top = most([]float64{top, most(g.gauge(s))})
		}
	}
	return r.told(c, "nginx", top)
}

// varnishChart shows what a cache answered by itself, and what it asked for.
func (r rec) varnishChart(g grid, _ *Timeline) *Chart {
	return r.ratesChart(g, "varnish", "Varnish", []rated{
		{"MAIN.cache_hit", "hits", "s2"}, {"MAIN.cache_miss", "misses", "s1"}, {"MAIN.s_pass", "passed on", "s4"},
		{"MAIN.n_lru_nuked", "thrown out", "s3"}, {"MAIN.backend_fail", "backend failed", "bad"},
	})
}

// redisChart shows the commands of a Redis, and the reads that found nothing.
func (r rec) redisChart(g grid, _ *Timeline) *Chart {
	return r.ratesChart(g, "redis", "Redis", []rated{
		{"total_commands_processed", "commands", "s2"}, {"keyspace_hits", "hits", "s5"}, {"keyspace_misses", "misses", "s1"},
		{"evicted_keys", "evicted", "s3"}, {"rejected_connections", "refused", "bad"},
	})
}

// ratesChart shows counters of a server each second; the first stands for whether
// anything happened, and the others are shown when they moved.
func (r rec) ratesChart(g grid, source, title string, list []rated) *Chart {
	c := &Chart{ID: source, Title: title, Unit: "per second", Height: lowHeight}
	top := math.NaN()
	for _, x := range list {
		s := r.Find(kasoku.Key{Source: source, Name: x.name})
		if s == nil {
			continue
		}
		c.quotes = append(c.quotes, quote{source, x.name})
		vs := g.rates(s)
		m := most(vs)
		if !(m > 0) {
			continue
		}
		top = most([]float64{top, m})
		vs = g.values(vs)
		c.Series = append(c.Series, ChartSeries{Name: x.label, Colour: x.colour, Form: Stairs, Spans: g.blocks(vs), Values: vs})
	}
	return r.told(c, source, top)
}

// told finishes a chart; nil when there was nothing.
func (r rec) told(c *Chart, source string, top float64) *Chart {
	if len(c.Series) == 0 || !(top > 0) {
		return nil
	}
	c.Axis = linearAxis(top, nil, unit.Plain)
	c.peaks()
	r.gaps(c, source)
	return c
}
