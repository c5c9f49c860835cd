package web

import (
	"os"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
)

func TestWebServer(t *testing.T) {
	read := func(names ...string) *kasoku.Recording {
		rec := &kasoku.Recording{}
		for _, name := range names {
			text, err := os.ReadFile("testdata/" + name)
			if err != nil {
				t.Fatal(err)
			}
			at := "/etc/nginx/" + name
			if name != "nginx.conf" {
				at = "/etc/nginx/conf.d/" + name
			}
			rec.Configs = append(rec.Configs, kasoku.Config{Kind: capture.KindNginx, Name: at, Text: string(text)})
		}
		return rec
	}
	w, err := webserver.ConfigOf(read("nginx.conf", "shop.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for uri, want := range map[string]string{
		"/": "location /", "/exact": "location = /exact", "/files/a.php": "location ^~ /files/", "/b.php": `location ~ \.php$`, "/api/x": "location /api/",
	} {
		if l, ok := w.LocationOf(uri); !ok || l.Context != want {
			t.Errorf("%s: %q, want %q", uri, l.Context, want)
		}
	}
	lacking, passing := lackingKeepalive(w, false)
	if passing != 2 || len(lacking) != 2 || lacking[0].upstream != "shop" || len(lacking[0].lacks) != 3 {
		t.Errorf("%d pass, lacking %+v", passing, lacking)
	}
	if limit, err := connectionLimit(diagnose.NewCase(read("nginx.conf", "shop.conf"), nil)); err != nil || limit != 200 {
		t.Errorf("%v connections, %v", limit, err)
	}
	if _, err := webserver.ConfigOf(&kasoku.Recording{}); err == nil {
		t.Error("no configuration, no error")
	}
}
