package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/cache"
	"github.com/kasoku/kasoku/observe/process"
)

// TestPassedMemory: transient storage holds kept answers too, those of a short life: only what is more than these is
// of answers that are passed on.
func TestPassedMemory(t *testing.T) {
	const vcl = "sub vcl_backend_response { set beresp.ttl = 0s; if (bereq.url ~ \"^/board\") { set beresp.ttl = 0.8s; } }\n"
	const other = "sub vcl_backend_response { if (beresp.http.X-Age) { set beresp.ttl = 5s; } }\n"
	for _, x := range []struct {
		name, vcl                 string
		passes, hits, held, saved float64
		boards                    uint64
		quiet                     string
	}{
		{"passed on", vcl, 600, 350, 60 << 20, 1 << 20, 1, ""},
		{"few are passed on", vcl, 490, 400, 60 << 20, 1 << 20, 1, "49.0 % of the requests were passed on"},
		{"nothing hits", vcl, 950, 20, 60 << 20, 1 << 20, 1, "what is of no use is the cache"},
		{"little memory", vcl, 600, 350, 15 << 20, 1 << 20, 1, "the threshold is 16.0 MiB"},
		{"more is kept", vcl, 600, 350, 60 << 20, 61 << 20, 1, "the threshold is 61.0 MiB"},
		{"short-lived boards of many paths", vcl, 600, 350, 60 << 20, 1 << 20, 32, "the threshold is 64.0 MiB"},
		{"who knows what is kept", other, 600, 350, 60 << 20, 1 << 20, 1, "and short-lived ones"},
		{"no VCL", "", 600, 350, 60 << 20, 1 << 20, 1, "blind"},
	} {
		board, big := passed("GET", "/board", 400, time.Millisecond), passed("GET", "/big/:id", 600, time.Millisecond)
		board.Paths, board.MaxBytes, board.Bytes = x.boards, 1<<20, 400<<20
		big.Paths, big.MaxBytes, big.Bytes = 100, 1<<20, 600<<20
		rec := shop("", board, big)
		if x.vcl != "" {
			rec.Configs = []kasoku.Config{{Kind: capture.KindVCL, Name: "/etc/varnish/default.vcl", Text: x.vcl}}
		}
		grows(rec, "varnish", "MAIN.client_req", 1000)
		grows(rec, "varnish", "MAIN.s_pass", x.passes)
		grows(rec, "varnish", "MAIN.cache_hit", x.hits)
		grows(rec, "varnish", "MAIN.cache_miss", 1000-x.passes-x.hits)
		for name, v := range map[string]float64{"SMA.Transient.g_bytes": x.held, "SMA.s0.g_bytes": x.saved} {
			grows(rec, "varnish", name, v)
			rec.Series[len(rec.Series)-1].Kind = kasoku.Gauge
		}
		found, silent := (cache.PassedMemory{}).Check(diagnose.NewCase(rec, nil))
		switch {
		case x.quiet == "" && (len(found) != 1 || found[0].Severity != kasoku.Info):
			t.Errorf("%s: %+v %+v", x.name, found, silent)
		case x.quiet == "blind" && (len(silent) != 1 || !silent[0].Blind):
			t.Errorf("%s: %+v %+v", x.name, found, silent)
		case x.quiet != "" && x.quiet != "blind" && (len(silent) != 1 || !strings.Contains(silent[0].Reason, x.quiet)):
			t.Errorf("%s: %+v %+v", x.name, found, silent)
		}
	}
}

// TestPassedMemory_Resident: the memory of Varnish's own processes is evidence, and no neighbour's.
func TestPassedMemory_Resident(t *testing.T) {
	rec := shop("", passed("GET", "/big/:id", 1000, time.Millisecond))
	rec.Endpoints[0].Paths, rec.Endpoints[0].MaxBytes = 100, 1<<20
	rec.Configs = []kasoku.Config{{Kind: capture.KindVCL, Name: "v",
		Text: "sub vcl_backend_response { set beresp.ttl = 0s; }"}}
	for name, v := range map[string]float64{"MAIN.client_req": 1000, "MAIN.s_pass": 600, "MAIN.cache_hit": 400,
		"MAIN.cache_miss": 0} {
		grows(rec, "varnish", name, v)
	}
	gauge := func(source, name, instance string, v float64) {
		grows(rec, source, name, v)
		s := &rec.Series[len(rec.Series)-1]
		s.Kind, s.Key.Instance = kasoku.Gauge, instance
	}
	gauge("varnish", "SMA.Transient.g_bytes", "", 60<<20)
	gauge("varnish", "SMA.s0.g_bytes", "", 1<<20)
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "cache", Role: kasoku.RoleCache, Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: 7, Leader: true}, {PID: 8}}}}}
	for instance, mib := range map[string]float64{"7 varnishd": 20, "8 cache-main": 90, "9 varnishd": 500} {
		gauge(diagnose.Process, process.RSS, instance, mib*(1<<20))
		grows(rec, diagnose.Process, process.CPUUser, 1)
		rec.Series[len(rec.Series)-1].Key.Instance = instance
	}
	found, silent := (cache.PassedMemory{}).Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 {
		t.Fatalf("%+v", silent)
	}
	at := slices.IndexFunc(found[0].Evidence, func(e kasoku.Evidence) bool { return e.Source == "process" })
	if at < 0 || found[0].Evidence[at].Value != "110 MiB" || found[0].Confidence.Level != kasoku.High {
		t.Errorf("%+v %+v", found[0].Evidence, found[0].Confidence)
	}
}
