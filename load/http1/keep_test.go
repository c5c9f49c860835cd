package http1

import (
	"errors"
	"strings"
	"testing"
)

func TestKeepLimit(t *testing.T) {
	f := func(name, answer string, max int64, ok bool) {
		t.Helper()
		p := &Parser{Keep: &Kept{MaxBody: max}}
		p.Start(false)
		_, _, err := p.Feed([]byte(answer))
		var tooLong *BodyTooLongError
		if ok != (err == nil) || err != nil && !errors.As(err, &tooLong) {
			t.Errorf("%s, at most %d bytes: %v", name, max, err)
		}
		if int64(len(p.Keep.Body)) > max {
			t.Errorf("%s: %d bytes are kept, at most %d may be", name, len(p.Keep.Body), max)
		}
	}
	for _, name := range []string{"ok", "chunked", "until-close"} {
		answer := named(name)
		size := map[string]int64{"ok": 2, "chunked": 11, "until-close": 13}[name]
		f(name, answer, size, true)
		f(name, answer, size-1, false)
	}
}

// TestKeepTrustsNoClaim: memory is taken for what has come, not for what is
// announced.
func TestKeepTrustsNoClaim(t *testing.T) {
	for _, head := range []string{"Content-Length: 9223372036854775807\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"} {
		p := &Parser{Keep: &Kept{}}
		p.Start(false)
		if _, _, err := p.Feed([]byte("HTTP/1.1 200 OK\r\n" + head + strings.Repeat("x", 1000))); err != nil {
			t.Fatal(err)
		}
		if n := cap(p.Keep.Body); n > 2*maxAhead {
			t.Errorf("%.20q: %d bytes are taken for 1,000", head, n)
		}
	}
}
