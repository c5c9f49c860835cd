package find

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/topology"
)

// TestWebOfLogs: a server block writes its own logs and those of its locations, else those
// of the nearest block around it.
func TestWebOfLogs(t *testing.T) {
	conf, err := nginxconf.Parse(`error_log /l/top; stream { access_log /l/stream; }
		http { access_log /l/http; access_log /l/second;
		server { listen 81; }
		server { listen 82; access_log /l/own; error_log logs/err; location / { access_log off; } }
		server { listen 83; location / { access_log /l/inner; } }
		server { listen 84; access_log /l/$host; } }`, "")
	if err != nil {
		t.Fatal(err)
	}
	w := webOf(t.Context(), &topology.NginxConfig{Config: conf, Prefix: "/p"}, func(host string) string { return host })
	want := []string{"/l/http /l/second /l/top", "/l/own /p/logs/err", "/l/inner /l/http /l/second /l/top", ""}
	if len(w.Blocks) != len(want) {
		t.Fatalf("%+v", w.Blocks)
	}
	for i, b := range w.Blocks {
		if got := strings.Join(b.Logs, " "); got != want[i] {
			t.Errorf("block %d: %s, want %s", i, got, want[i])
		}
	}
}

// TestWebOfHostile: what a stranger writes into a configuration stops nothing: it is read
// in seconds, and ends with its context.
func TestWebOfHostile(t *testing.T) {
	numbers := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const all = 8 << 20
	texts := map[string]string{
		"servers":              strings.Repeat("server{}", all/8),
		"servers in servers":   strings.Repeat("server{", all/7),
		"inherited logs":       "http{" + numbers("access_log /l/%d;", 17000) + strings.Repeat("server{}", 1900),
		"logs of one":          "server{" + numbers("access_log /l/%d;", 19000),
		"upstreams":            "http{upstream u{" + numbers("server 10.0.0.1:%d;", 14000) + "}" + strings.Repeat("server{proxy_pass http://u;}", 1900),
		"passed on":            "server{" + numbers("proxy_pass http://10.0.0.1:%d;", 19000),
		"deep":                 "http{access_log /l/a;" + strings.Repeat("a{", 17000) + strings.Repeat("server{}", 1900),
		"blocks of no meaning": strings.Repeat("a;", all/2),
	}
	for what, text := range texts {
		began := time.Now()
		conf, _ := nginxconf.Parse(text, "")
		w := webOf(t.Context(), &topology.NginxConfig{Config: conf, Prefix: "/p"}, func(host string) string { return host })
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: %v", what, took)
		}
		if len(w.Blocks) > 2000 {
			t.Errorf("%s: %d blocks", what, len(w.Blocks))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	conf, _ := nginxconf.Parse(texts["servers"], "")
	if w := webOf(ended, &topology.NginxConfig{Config: conf}, func(host string) string { return host }); len(w.Blocks) != 0 {
		t.Errorf("ended: %d blocks", len(w.Blocks))
	}
}
