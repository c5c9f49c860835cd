package onehost

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestNewClient: neither a redirect nor a proxy of the environment leads to another host.
func TestNewClient(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer other.Close()
	here := httptest.NewServer(http.RedirectHandler(other.URL+"/", http.StatusFound))
	defer here.Close()
	res, err := NewClient(&http.Transport{Proxy: http.ProxyFromEnvironment}, 0).Get(here.URL)
	if err != nil || res.StatusCode != http.StatusFound {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
	if NewClient(&http.Transport{Proxy: http.ProxyFromEnvironment}, 0).Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy is asked")
	}
}

// TestNewClient_Path: a redirect to another path of the same host is followed, three times.
func TestNewClient_Path(t *testing.T) {
	asked := 0
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/render/" {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
		}
	}))
	defer here.Close()
	for path, want := range map[string]struct{ status, asked int }{"/render": {200, 2}, "/endless": {301, mostSteps + 1}} {
		asked = 0
		res, err := NewClient(&http.Transport{}, 0).Get(here.URL + path)
		if err != nil || res.StatusCode != want.status || asked != want.asked {
			t.Errorf("%s: %v, %v, %d requests", path, res, err, asked)
			continue
		}
		_ = res.Body.Close()
	}
}
