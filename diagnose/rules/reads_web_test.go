package rules

import (
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
)

// webReads describes what webRules read; false for other rules.
func webReads(id string) (extract.Keys, bool) {
	keys := func(source string, names ...string) (out []kasoku.Key) {
		for _, n := range names {
			out = append(out, kasoku.Key{Source: source, Name: n})
		}
		return out
	}
	k := extract.Keys{Settings: []string{"version", "version_comment"}}
	conf := []string{capture.KindNginx}
	switch id {
	case "NGX-01":
		k.Configs, k.Series = conf, keys(diagnose.Host, "tcp.active_opens", "cpu.idle")
	case "NGX-05", "CCH-01", "APP-08":
	case "NGX-02", "CCH-08":
		k.Configs = conf
	case "NGX-03", "NGX-04":
		k.Configs, k.Messages = conf, true
	case "NGX-06":
		k.Queries, k.Callers, k.Plans = true, true, true
	case "NGX-08":
		k.Configs, k.Messages, k.Series = conf, true, keys("nginx", "active")
	case "NGX-09":
		k.Configs = conf
	case "CCH-02":
		k.Configs, k.Series = []string{capture.KindVCL, capture.KindNginx}, keys("varnish", "MAIN.client_req", "MAIN.s_pass", "MAIN.cache_hit")
	case "CCH-04", "CCH-05":
		k.Configs, k.Latencies = []string{capture.KindVCL, capture.KindNginx}, true
		k.Series = keys("varnish", "MAIN.client_req", "MAIN.s_pass", "MAIN.cache_hit", "MAIN.cache_miss",
			"MAIN.cache_hit_grace")
	case "CCH-06":
		k.Configs = []string{capture.KindVCL, capture.KindNginx}
		k.Series = keys("varnish", "MAIN.client_req", "MAIN.s_pass", "MAIN.cache_hit", "MAIN.cache_miss",
			"SMA.s0.g_bytes",
			"SMA.Transient.g_bytes")
	case "APP-01":
		k.Messages, k.Series = true, keys(diagnose.Process, "io.write_calls")
	case "APP-02":
		k.Series = slices.Concat(keys(diagnose.Host, "forks", "cpu.idle"), keys(diagnose.Process, "cpu.user", "cpu.system", "cpu.children", "container.cpu"),
			keys("sockets", "accept.queue", "tcp.established", "tcp.time_wait"), keys(diagnose.Self, "pid"))
	case "APP-03":
		k.Service, k.Traces = true, true
	case "APP-04":
		k.Messages, k.Queries, k.Callers = true, true, true
	case "APP-05":
		k.Queries, k.Transactions, k.Callers, k.Service = true, true, true, true
		k.Series = idleReads()
	case "APP-06":
		k.Queries, k.Callers = true, true
	case "APP-10":
		k.Profiles, k.Series = true, keys(diagnose.Process, "rss")
	case "LCK-05":
		k.Locks, k.Traces = true, true
	default:
		return extract.Keys{}, false
	}
	return k, slices.Contains([]string{"NGX", "CCH", "APP", "LCK"}, id[:3])
}
