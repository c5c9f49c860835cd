package webserver_test

import (
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
)

func TestPortsOf(t *testing.T) {
	const conf = `http {
    upstream cache { server "127.0.0.1:6081"; keepalive 64; }
    upstream two { server 127.0.0.1:81; server [::1]:82 backup; }
    upstream far { server 127.0.0.1:81; server 192.0.2.7:80; }
    upstream socket { server unix:/run/app.sock; }
    server { listen 80; location / { proxy_pass http://cache; } }
}`
	w, err := webserver.ConfigOf(&kasoku.Recording{Configs: []kasoku.Config{{Kind: capture.KindNginx, Name: "/nginx.conf", Text: conf}}})
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string][]int{
		"http://cache": {6081}, "http://cache/": {6081}, "http://two": {81, 82}, "http://far": nil, "http://socket": nil,
		"http://127.0.0.1:8080": {8080}, "http://localhost:8080/a": {8080}, "http://$name:80": nil, "http://app": nil,
		"http://192.0.2.7:80": nil, "cache": nil, "": nil,
	} {
		if got := w.PortsOf(to); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", to, got, want)
		}
	}
}
