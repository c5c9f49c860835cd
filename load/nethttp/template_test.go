package nethttp

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

// wire keeps what a server got: the line of the request, some headers, the length
// and the body.
type wire struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func startWire(t testing.TB) *wire {
	t.Helper()
	s := &wire{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, fmt.Sprintf("%s %s host=%s h=%q seq=%q auth=%q length=%d body=%q",
			r.Method, r.RequestURI, r.Host, r.Header.Values("H"), r.Header.Get("Seq"), r.Header.Get("Authorization"), r.ContentLength, body))
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// filled returns a target whose places are found.
func filled(t testing.TB, target load.Target) load.Target {
	t.Helper()
	f, err := load.NewFill(load.FillOptions{URL: target.URL, Header: target.Header, Body: target.Body, Seed: 1})
	if err != nil || f == nil {
		t.Fatalf("fill is %v, %v", f, err)
	}
	target.Fill = f
	return target
}

func TestPlacesAreFilled(t *testing.T) {
	s := startWire(t)
	f := func(o Options, target load.Target, want ...string) {
		t.Helper()
		s.got = nil
		o.MaxInFlight = 1
		host := strings.TrimPrefix(s.URL, "http://")
		target.URL = strings.Replace(target.URL, "HOST", host, 1)
		_, hits := attack(t, t.Context(), o, len(want), filled(t, target))
		for i := range want {
			want[i] = strings.Replace(want[i], "HOST", host, 1)
		}
		if !slices.Equal(s.got, want) {
			t.Errorf("the server got\n%s\nwant\n%s", strings.Join(s.got, "\n"), strings.Join(want, "\n"))
		}
		for _, h := range hits {
			if h.Code != 200 || o.Chunked && h.BytesOut != 3 {
				t.Errorf("bad hit %+v", h)
			}
		}
	}
	f(Options{SeqHeader: "Seq"}, load.Target{Method: "GET", URL: "http://me:pw@HOST/a/{{seq}}?q={{pick a b}}", Header: http.Header{"H": {"x", "{{seq}}"}}},
		`GET /a/0?q=a%20b host=HOST h=["x" "0"] seq="0" auth="Basic bWU6cHc=" length=0 body=""`,
		`GET /a/1?q=a%20b host=HOST h=["x" "1"] seq="1" auth="Basic bWU6cHc=" length=0 body=""`)
	f(Options{}, load.Target{Method: "POST", URL: "http://HOST/", Header: http.Header{"Host": {"h{{seq}}.test"}}, Body: []byte("n={{seq}}0000")},
		`POST / host=h0.test h=[] seq="" auth="" length=7 body="n=00000"`,
		`POST / host=h1.test h=[] seq="" auth="" length=7 body="n=10000"`)
	f(Options{Chunked: true}, load.Target{Method: "PUT", URL: "http://HOST/", Body: []byte("n={{seq}}")},
		`PUT / host=HOST h=[] seq="" auth="" length=-1 body="n=0"`)
}

func TestAFilledBodyIsSentAgainAfterARedirect(t *testing.T) {
	s := startWire(t)
	attack(t, t.Context(), Options{MaxInFlight: 1}, 1, filled(t, load.Target{Method: "POST", URL: s.URL + "/again", Body: []byte("{{alnum 5}}")}))
	if len(s.got) != 2 || !strings.HasPrefix(s.got[1], "POST /end ") || s.got[0][strings.Index(s.got[0], "length="):] != s.got[1][strings.Index(s.got[1], "length="):] {
		t.Errorf("the server got %q", s.got)
	}
}

// stream gives these targets and then an error.
type stream struct {
	targets []load.Target
	end     error
}

func (s *stream) Next() (*load.Target, error) {
	if len(s.targets) == 0 {
		return nil, s.end
	}
	t := s.targets[0]
	s.targets = s.targets[1:]
	return &t, nil
}

func TestStream(t *testing.T) {
	s := startWire(t)
	sched, err := load.Constant(1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Options{MaxInFlight: 1})
	if err != nil {
		t.Fatal(err)
	}
	var c loadtest.Collector
	targets := []load.Target{
		{Method: "POST", URL: s.URL + "/a", Body: []byte("x")},
		get("ftp://h/"),
		get("http://192.0.2.1/"),
		filled(t, get(s.URL+"/{{seq}}")),
	}
	_, err = e.Run(t.Context(), load.Plan{Schedule: sched, Stream: &stream{targets, io.EOF}}, time.Now(), &c)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.All()) != 4 {
		t.Fatalf("hits are %+v", c.All())
	}
	for i, want := range []string{"", `target GET "ftp://h/": bad URL scheme "ftp": want http or https`,
		`Get "http://192.0.2.1/": dial tcp: not sent: 192.0.2.1 is neither loopback nor private`, ""} {
		if h := c.All()[i]; h.Err != want || (want == "") != (h.Code == 200) || h.Own == nil || h.Own.URL == "" {
			t.Errorf("bad hit %+v, want %q", h, want)
		}
	}
	if len(s.got) != 2 || !strings.HasPrefix(s.got[1], "GET /3 ") {
		t.Errorf("the server got %q", s.got)
	}
}
