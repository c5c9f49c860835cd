package record

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// webLog is a log_format with all that failures are read from.
const webLog = `log_format k "time:$time_iso8601\treq:$request\tstatus:$status\tsize:$body_bytes_sent\tua:$http_user_agent` +
	`\treqtime:$request_time\tapptime:$upstream_response_time";`

// TestRecord_GivenUp: requests that their clients gave up are failures of someone, those
// that the end of a load cut off are none, and bots that a real nginx refuses as it is
// configured to are none either.
func TestRecord_GivenUp(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case <-time.After(400 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, "ok")
	}))
	t.Cleanup(app.Close)
	config := func(refusal string) string {
		return `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { ` + webLog + ` access_log "{dir}/access.log" k; map $http_user_agent $from_bot { default 0; "~*bot" 1; }
proxy_temp_path "{dir}/p"; client_body_temp_path "{dir}/b"; fastcgi_temp_path "{dir}/f"; uwsgi_temp_path "{dir}/u"; scgi_temp_path "{dir}/s";
server { listen 127.0.0.1:{port}; ` + refusal + ` location / { proxy_pass ` + app.URL + `; } } }`
	}
	ask := func(url, agent string, within time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		req.Header.Set("User-Agent", agent)
		if res, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}
	record := func(web *sandbox.NginxServer, o Options) *kasoku.Recording {
		o.Path, o.Interval = filepath.Join(t.TempDir(), "x.kasoku"), 200*time.Millisecond
		o.Sources.AccessLog = filepath.Join(web.Dir, "access.log")
		o.Capture = &capture.Options{Files: []string{filepath.Join(web.Dir, "nginx.conf")}}
		res, err := Record(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return res.Recording
	}
	run := func(refusal string, load func(url string)) *kasoku.Recording {
		web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: config(refusal)})
		begun, end := make(chan struct{}), make(chan struct{})
		over := filepath.Join(t.TempDir(), "over") // there once the load has ended, also on a busy host
		go func() {
			defer close(end)
			<-begun
			load(web.URL())
			if err := os.WriteFile(over, nil, 0o600); err != nil {
				t.Error(err)
			}
		}()
		wait := []string{"sh", "-c", `sleep 4; until test -e "$0"; do sleep 0.1; done`, over}
		rec := record(web, Options{Course: Course{Command: wait}, Opened: func() error { close(begun); return nil }})
		<-end
		return rec
	}
	verdict := func(rec *kasoku.Recording) string {
		return diagnose.Diagnose(diagnose.NewCase(rec, nil), nil).Verdict
	}
	people := func(url string) {
		for range 150 {
			ask(url+"/fast", "people", time.Second)
		}
	}

	rec := run("", func(url string) {
		people(url)
		for range 40 {
			ask(url+"/slow", "people", 40*time.Millisecond)
		}
	})
	if v := verdict(rec); !strings.Contains(v, "% of requests succeed: no rule") || strings.Contains(v, "broke") {
		t.Errorf("40 of 190 requests were given up: %s; %v", v, codes(rec))
	}
	// On a busy host some are given up before nginx has them.
	if s := diagnose.Summarise(rec); s.Requests < 170 || s.Requests > 190 || s.Succeeded != 150 {
		t.Errorf("%d of %d succeeded", s.Succeeded, s.Requests)
	}

	// One request was under way when the load ended: no one waited in vain.
	rec = run("", func(url string) {
		people(url)
		ask(url+"/slow", "people", 40*time.Millisecond)
	})
	if v := verdict(rec); !strings.HasPrefix(v, "Nothing broke: 100 % of 1") {
		t.Errorf("one was cut off: %s; %v", v, codes(rec))
	}

	bots := func(url string) {
		people(url)
		for range 30 {
			ask(url+"/fast", "examplebot/1.0", time.Second)
		}
	}
	rec = run("if ($from_bot) { return 503; }", bots)
	if v := verdict(rec); !strings.HasPrefix(v, "Nothing broke: 100 % of 1") || codes(rec)[503] != 30 {
		t.Errorf("bots are refused as they are to be: %s; %v", v, codes(rec))
	}
	if s := diagnose.Summarise(rec); s.Succeeded != 180 {
		t.Errorf("%d of %d succeeded", s.Succeeded, s.Requests)
	}
	if v := verdict(rec); !strings.Contains(v, "; 30 answers 503 refused bots, as is configured") {
		t.Errorf("the refused bots are not named: %s", v)
	}
	// A load of kasoku's own that asks as bots do gets the same answers.
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: config("if ($from_bot) { return 503; }")})
	target := func(agent string) load.Target {
		return load.Target{Method: http.MethodGet, URL: web.URL() + "/fast", Header: http.Header{"User-Agent": {agent}}}
	}
	engine, err := nethttp.New(nethttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rec = record(web, Options{Course: Course{Load: &Load{Engine: engine, Targets: []load.Target{target("people"), target("examplebot/1.0")},
		Each: time.Second, Next: Climb(40, 80)}}})
	if v := verdict(rec); !strings.HasPrefix(v, "No step broke: at 80 req/s, 100 % of requests succeed") ||
		!strings.Contains(v, "; 40 answers 503 refused bots, as is configured") {
		t.Errorf("a load's bots are refused as they are to be: %s; %v", v, codes(rec))
	}
	if s := diagnose.Summarise(rec); s.Requests != 120 || s.Succeeded != 120 || s.PerSec != 80 {
		t.Errorf("%d of %d of the load succeeded, %v a second", s.Succeeded, s.Requests, s.PerSec)
	}
	if one := rec.Tally(1); one.Refused != 20 || one.Failed() != 0 || one.SuccessRatio() != 1 || rec.Tally(0).Refused != 60 {
		t.Errorf("refused: %d in step 1, %d in all; failed: %d", one.Refused, rec.Tally(0).Refused, one.Failed())
	}
	// The same answers to people are failures.
	rec = run("if ($http_user_agent ~ people) { return 503; }", bots)
	if v := verdict(rec); !strings.Contains(v, "% of requests succeed: no rule") {
		t.Errorf("people are refused: %s; %v", v, codes(rec))
	}
}

func codes(rec *kasoku.Recording) map[int]uint64 {
	out := map[int]uint64{}
	for _, e := range rec.Endpoints {
		for code, n := range e.Codes {
			out[code] += n
		}
	}
	return out
}
