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
