package agent

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestReferences(t *testing.T) {
	a := open(t, Options{BaseURL: "http://127.0.0.1:1/"})
	all := open(t, Options{BaseURL: "http://127.0.0.1:1/", OtherOrigins: true})
	f := func(html string, want ...string) {
		t.Helper()
		page := &Response{Body: []byte(html), base: a.base, uri: "/dir/page?q"}
		for _, agent := range []*Agent{a, all} {
			want := want
			if agent == a {
				want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return !strings.HasPrefix(s, "/") })
			}
			var got []string
			for _, r := range agent.references(page) {
				got = append(got, r.URL)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: got %q, want %q", html, got, want)
			}
		}
	}
	f("")
	f("{}")
	f(`<link rel=stylesheet href=a.css><link rel="shortcut ICON" href="/i.ico?x&amp;y"><link rel=preload href=no><link rel=canonical href=/no>`, "/dir/a.css", "/i.ico?x&y")
	f(`<SCRIPT src="../x.js"></SCRIPT><script>"<img src=no>"</script><script type=module src=x.js#part />`, "/x.js", "/dir/x.js")
	f(`<img src=" a.png "><img src=a.png#b><img loading=lazy src=no><img><img src=""><img src="data:image/png;base64,xx">`, "/dir/a.png")
	f(`<!-- <img src=no> --><textarea><img src=no></textarea><img src=http://127.0.0.1:1/yes><img src=//cdn.example/x.png><img src="http://[::1/%">`, "/yes", "http://cdn.example/x.png")
	f(`<base href="/other/"><img src=a>`, "/other/a")
	f(`<img src="a`)
	var many strings.Builder
	for i := range 2 * maxResources {
		fmt.Fprintf(&many, "<img src=%d>", i)
	}
	if n := len(a.references(&Response{Body: []byte(many.String()), base: a.base})); n != maxResources {
		t.Errorf("%d references, want %d", n, maxResources)
	}
}

func TestSubResources(t *testing.T) {
	var now, peak atomic.Int64
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		peak.Store(max(peak.Load(), now.Add(1)))
		defer now.Add(-1)
		switch r.URL.Path {
		case "/page":
			fmt.Fprint(w, "<link rel=icon href=/missing>")
			for i := range 50 {
				fmt.Fprintf(w, "<img src=/img/%d.png>", i)
			}
		case "/missing":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, r.URL.Path)
		}
	})
	a := open(t, Options{BaseURL: base})
	got := a.SubResources(t.Context(), get(t, a, "/page"))
	if len(got) != 51 || got[0].Response.Status != 404 {
		t.Fatalf("got %d: %+v", len(got), got)
	}
	for i, r := range got[1:] {
		if want := fmt.Sprintf("/img/%d.png", i); r.URL != want || r.Err != nil || string(r.Response.Body) != want {
			t.Errorf("got %+v, want %s", r, want)
		}
	}
	if p := peak.Load(); p > resourcesAtOnce {
		t.Errorf("%d at once", p)
	}
}
