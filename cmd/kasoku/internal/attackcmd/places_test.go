package attackcmd

import (
	"net/http"
	"slices"
	"testing"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
)

// TestPlaces: a recording gets where requests go, and neither paths nor passwords.
func TestPlaces(t *testing.T) {
	plan := &load.Plan{Targets: []load.Target{{URL: "http://u:secret@127.0.0.1:8080/a?token=secret"},
		{URL: "http://127.0.0.1:8080/b"}, {URL: "https://[::1]/"}, {URL: "http://shop.example/"}, {URL: "::"},
		{URL: "http://127.0.0.1:8080/c", Header: http.Header{"host": {"blog.example:8080"}}}}}
	for _, c := range []struct {
		dial nethttp.Dial
		want []string
	}{
		{nethttp.Dial{}, []string{"http://127.0.0.1:8080", "http://[::1]:443", "http://shop.example:80", "http://127.0.0.1:8080 blog.example"}},
		{nethttp.Dial{ConnectTo: []string{"shop.example:80:127.0.0.1:81", "shop.example:80:127.0.0.1:82"}},
			[]string{"http://127.0.0.1:8080", "http://[::1]:443", "http://127.0.0.1:81 shop.example", "http://127.0.0.1:82 shop.example",
				"http://127.0.0.1:8080 blog.example"}},
		{nethttp.Dial{UnixSocket: "/run/app.sock"}, []string{"unix:/run/app.sock 127.0.0.1", "unix:/run/app.sock [::1]", "unix:/run/app.sock shop.example",
			"unix:/run/app.sock blog.example"}},
	} {
		if got := placesOf(plan, c.dial); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.dial, got, c.want)
		}
	}
}
