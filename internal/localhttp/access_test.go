package localhttp

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAccess(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "metrics") })
	f := func(at, token, host, authorization string, want int) {
		t.Helper()
		addr, err := net.ResolveTCPAddr("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Host = host
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		Access{Token: token}.Guard(addr, ok).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s, token %q, Host %q, %q: %d, want %d", at, token, host, authorization, w.Code, want)
		}
	}
	for _, host := range []string{"localhost:9798", "127.0.0.1:9798", "[::1]:9798", "LOCALHOST", "127.9.9.9"} {
		f("127.0.0.1:9798", "", host, "", 200)
		f("[::1]:9798", "", host, "", 200)
	}
	for _, host := range []string{"evil.example:9798", "localhost.evil.example", "10.0.0.1", "", "127.0.0.1.evil.example:9798"} {
		f("127.0.0.1:9798", "", host, "", 403)
		f("0.0.0.0:9798", "", host, "", 200) // open in so many words
	}
	f("0.0.0.0:9798", "long-enough-token", "db1", "Bearer long-enough-token", 200)
	f("0.0.0.0:9798", "long-enough-token", "db1", "bearer  long-enough-token ", 200)
	for _, bad := range []string{"", "Bearer", "Bearer ", "Bearer long-enough-toke", "Bearer long-enough-token2", "Basic long-enough-token", "long-enough-token"} {
		f("0.0.0.0:9798", "long-enough-token", "db1", bad, 401)
	}
}

// TestBoundedListener: a listener with all its places taken accepts the next connection
// when one is closed, and ends although it waits.
func TestBoundedListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Bound(inner, 1)
	for range 2 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan net.Conn)
	go func() {
		c, _ := l.Accept()
		next <- c
	}()
	first.Close()
	first.Close() // gives one place back
	if c := <-next; c == nil {
		t.Fatal("no second connection")
	}
	ended := make(chan error)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	l.Close()
	if err := <-ended; err == nil {
		t.Error("accepted after the end")
	}
}
