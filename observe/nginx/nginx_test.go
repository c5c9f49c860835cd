package nginx

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const page = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630947 31070465 \nReading: 6 Writing: 179 Waiting: 106 \n"

func TestParse(t *testing.T) {
	got, err := Parse([]byte(page))
	want := Status{Active: 291, Accepts: 16630948, Handled: 16630947, Requests: 31070465, Reading: 6, Writing: 179, Waiting: 106}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "<html>", page[:40], strings.Replace(page, "6 W", "x W", 1), strings.Replace(page, "291", "-1", 1)} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(page)
	f.Add("Active connections: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		st, err := Parse([]byte(text))
		if err != nil {
			return
		}
		again := fmt.Sprintf("Active connections: %d \nserver accepts handled requests\n %d %d %d \nReading: %d Writing: %d Waiting: %d \n",
			st.Active, st.Accepts, st.Handled, st.Requests, st.Reading, st.Writing, st.Waiting)
		if back, err := Parse([]byte(again)); err != nil || back != st {
			t.Errorf("%+v, then %+v, %v", st, back, err)
		}
	})
}

func TestCheck(t *testing.T) {
	for url, ok := range map[string]bool{"http://127.0.0.1/nginx_status": true, "https://h/": true, "127.0.0.1/x": false, "ftp://h/": false, "http://": false} {
		if err := Check(url); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestCollect_Gaps: what is no page of stub_status says so, and a server that comes
// back is read again.
func TestCollect_Gaps(t *testing.T) {
	code, text := http.StatusNotFound, "nothing"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}))
	defer srv.Close()
	s, err := New(srv.URL + "/status")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err == nil || !strings.Contains(err.Error(), "404 Not Found") || len(f.Samples) > 0 {
		t.Errorf("%v, %+v", err, f.Samples)
	}
	code, text = http.StatusOK, "<html>"
	if err := s.Collect(t.Context(), &f); err == nil || !strings.Contains(err.Error(), "stub_status") {
		t.Error(err)
	}
	text = page
	if err := s.Collect(t.Context(), &f); err != nil || len(f.Samples) != 7 {
		t.Errorf("%v, %+v", err, f.Samples)
	}
	srv.Close()
	if err := s.Collect(t.Context(), &f); err == nil || !strings.HasPrefix(err.Error(), "nginx does not answer: ") {
		t.Error(err)
	}
}

// TestNginx: a real server counts what is asked of it.
func TestNginx(t *testing.T) {
	srv := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: `{user}
worker_processes 1;
pid "{dir}/nginx.pid";
error_log "{dir}/error.log" warn;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path "{dir}/body"; proxy_temp_path "{dir}/proxy"; fastcgi_temp_path "{dir}/fastcgi"; uwsgi_temp_path "{dir}/uwsgi"; scgi_temp_path "{dir}/scgi";
    server { listen 127.0.0.1:{port}; location = /nginx_status { stub_status; } location / { return 200 "x"; } }
}
`})
	base := fmt.Sprintf("http://127.0.0.1:%d", srv.Port)
	s, err := New(base + "/nginx_status")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	requests := func() float64 {
		var f kasoku.Frame
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		for _, v := range f.Samples {
			if v.Name == "requests" {
				return v.Value
			}
		}
		t.Fatal("no requests")
		return 0
	}
	before := requests()
	for range 5 {
		resp, err := http.Get(base + "/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if n := requests() - before; n != 6 {
		t.Errorf("5 requests and the page's own count as %v", n)
	}
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	observetest.Sampled(t, &Declared, f.Samples, nil)
}
