package record

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/varnish"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRecord_Servers: the numbers of real servers are in a run, each source with its
// own; an error log that leaves warnings out says so.
func TestRecord_Servers(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	cache := sandboxtest.Redis(t, sandbox.RedisOptions{})
	carbon := sandboxtest.Carbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log off; server { listen 127.0.0.1:{port}; location = /status { stub_status; } } }`})
	front := sandboxtest.Varnish(t, sandbox.VarnishOptions{Upstream: web.Addr()})
	o := Options{
		Path:     filepath.Join(t.TempDir(), "x.kasoku"),
		Course:   Course{For: 3 * time.Second},
		Interval: 100 * time.Millisecond,
		Sources: Sources{
			Servers: []observe.Table{
				&nginx.Table{Status: web.URL() + "/status"}, &varnish.Table{Name: front.Dir}, &redis.Table{At: cache.Addr()},
				&graphite.Table{Query: carbon.QueryAddr(), Storage: filepath.Join(carbon.StorageDir, "whisper")},
			},
			PIDs: []int{web.Pid()}, MoreLogs: Logs{Error: []string{web.ErrorLog}},
		},
		Capture: &capture.Options{},
	}
	res, err := Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	rec := res.Recording
	for source, name := range map[string]string{"nginx": "requests", "varnish": "MAIN.client_req", "redis": "total_commands_processed", "graphite": "memUsage"} {
		if !slices.ContainsFunc(rec.Series, func(s kasoku.Series) bool { return s.Key.Source == source && s.Key.Name == name }) {
			t.Errorf("no %s of %s; gaps %+v, warnings %+v", name, source, rec.Gaps, rec.Warnings)
		}
	}
	i := slices.IndexFunc(rec.Logs, func(w kasoku.LogWindow) bool { return w.Kind == "errorlog" })
	if i < 0 || !strings.Contains(rec.Logs[i].Note, "nginx writes no warnings") {
		t.Errorf("logs %+v", rec.Logs)
	}
	o.Path, o.For, o.Off = o.Path+"2", 200*time.Millisecond, []string{"redis", "graphite", "nginx", "varnish"}
	if res, err = Record(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, s := range res.Recording.Series {
		if slices.Contains(o.Off, s.Key.Source) {
			t.Errorf("%+v is off", s.Key)
		}
	}
}
