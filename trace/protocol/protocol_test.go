package protocol

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// feedHTTP feeds pieces, each with how many bytes of it are known, and returns the requests.
func feedHTTP(pieces ...string) (out []string) {
	var h HTTP
	for _, p := range pieces {
		known, rest, _ := strings.Cut(p, "‖")
		h.Feed([]byte(known), len(known)+len(rest), func(r trace.Request) {
			out = append(out,
				r.Method+" "+r.Path+" "+r.Host)
		})
	}
	return out
}

func TestHTTP(t *testing.T) {
	f := func(want string, pieces ...string) {
		t.Helper()
		if got := strings.Join(feedHTTP(pieces...), ", "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("GET /a x", "GET /a?b=1 HTTP/1.1\r\nHost: x\r\n\r\n")
	f("GET /a ", "G", "ET /a HTTP/1.1\r\n\r\n") // as Go's net/http reads after an answer
	f("GET /a , GET /b ", "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n")
	f("POST /a , GET /b ", "POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /GET /b HTTP/1.1\r\n\r\n")
	f("POST /a , GET /b ", "POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nGE", "T /GET /b HTTP/1.1\r\n\r\n")
	f("POST /a , GET /b ", "POST /a HTTP/1.1\r\nContent-Length: 9\r\n\r\n123‖456789", "GET /b HTTP/1.1\r\n\r\n")
	f("POST /a , GET /b ",
		"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nGET /\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n")
	f("GET /a , GET /b ", "GET /a HTTP/1.1\r\nCookie: ‖long", "GET /b HTTP/1.1\r\n\r\n") // the rest is not known
	f("GET /b ", "\x16\x03\x01garbage", "GET /b HTTP/1.1\r\n\r\n")
	f("GET /b h", "GET http://h/b HTTP/1.1\r\n\r\n")
	f("GET /?? ", "GET /\x1b\x7f HTTP/1.1\r\n\r\n")
	f("", "GET /a HTTP/2\r\n\r\n", "nothing")
	f("GET "+strings.Repeat("x", mostPath)+" , GET /b ", "GET "+strings.Repeat("x", 40_000), "GET /b HTTP/1.1\r\n\r\n")
}

func TestCommands(t *testing.T) {
	packet := func(seq byte, body string) string {
		var head [4]byte
		binary.LittleEndian.PutUint32(head[:], uint32(len(body)))
		head[3] = seq
		return string(head[:]) + body
	}
	f := func(want, bytes string) {
		t.Helper()
		var got []string
		Commands([]byte(bytes), func(c Command) {
			got = append(got, fmt.Sprintf("%d %q %d %v", c.Code, c.Text, c.Statement, c.Cut))
		})
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
	f(`3 "SELECT 1" 0 false`, packet(0, "\x03SELECT 1"))
	f(`3 "SEL" 0 true`, packet(0, "\x03SELECT 1")[:8])
	f(`22 "SELECT ?" 0 false; 23 "" 4294967295 false`, packet(0, "\x16SELECT ?")+packet(0, "\x17\xff\xff\xff\xff\x00"))
	f(`25 "" 7 false; 3 "B" 0 false`, packet(0, "\x19\x07\x00\x00\x00")+packet(0, "\x03B"))
	f(`14 "" 0 false`, packet(0, "\x0e"))
	f("", packet(1, "\x03not the first of a command"))
	f("", "\x00\x00\x00\x00")
	f("", "")
	if got := string(QueryText([]byte("\x00\x01SELECT 1"))); got != "SELECT 1" {
		t.Errorf("with attributes: %q", got)
	}
	for _, text := range []string{"\x01\x01\x00\x01\xfe\x00\x02idsecretSELECT 1", "\x09\x01SELECT", "\x28\x01a", "\x02"} {
		if got := QueryText([]byte(text)); got != nil {
			t.Errorf("of %q: %q", text, got)
		}
	}
	for _, text := range []string{"", "\tSELECT 1", "\nSELECT 1", "\r\nSELECT 1", "(SELECT 1)"} {
		if got := string(QueryText([]byte(text))); got != text {
			t.Errorf("of %q: %q", text, got)
		}
	}
}

func TestExecutesLast(t *testing.T) {
	f := func(bytes string, want bool) {
		t.Helper()
		if got := ExecutesLast([]byte(bytes)); got != want {
			t.Errorf("%q: %v", bytes, got)
		}
	}
	f("\x05\x00\x00\x00\x17\xff\xff\xff\xff", true)
	f("\x05\x00\x00\x00\xfa\xff\xff\xff\xff", true)
	f("\x05\x00\x00\x00\x17\x01\x00\x00\x00", false)
	f("\x05\x00\x00\x00\x16\xff\xff\xff\xff", false)
	f("\x05\x00\x00\x01\x17\xff\xff\xff\xff", false)
	f("\x05\x00\x00\x00\x17\xff\xff", false)
}

func TestReadReply(t *testing.T) {
	f := func(bytes string, prepared bool, want Reply, ok bool) {
		t.Helper()
		if got, whole := ReadReply([]byte(bytes), prepared); got != want || whole != ok {
			t.Errorf("%q: %+v, %v", bytes, got, whole)
		}
	}
	f("\x07\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00", false, Reply{OK: true, Known: true, InTransaction: true}, true)
	f("\x07\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00", false, Reply{OK: true, Known: true, InTransaction: true, Manual: true},
		true)
	f("\x07\x00\x00\x01\x00\xfc\x00\x02\x00\x02\x00\x00\x00", false, Reply{OK: true, Known: true}, true)
	f("\x0c\x00\x00\x01\x00\x09\x00\x00\x00\x01\x00", true, Reply{OK: true, Statement: 9}, true)
	f("\x0c\x00\x00\x01\x00\x09", true, Reply{}, false)
	f("\x0c\x00\x00\x01", false, Reply{}, false)
	f("\x09\x00\x00\x01\xff\x10\x04", true, Reply{Failed: true}, true)
}

func TestLogin(t *testing.T) {
	f := func(flags uint32, encrypted, compressed bool) {
		t.Helper()
		b := binary.LittleEndian.AppendUint32([]byte{32, 0, 0, 1}, flags)
		if e, c := Login(b); e != encrypted || c != compressed {
			t.Errorf("%x: %v, %v", flags, e, c)
		}
	}
	f(1<<9, false, false)
	f(1<<11, true, false)
	f(1<<5, false, true)
	f(1<<26, false, true)
}

// record returns a record of FastCGI.
func record(kind byte, content string) string {
	head := []byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), 0, 0}
	return string(head) + content
}

func TestFastCGI(t *testing.T) {
	params := record(4, "\x0e\x03REQUEST_METHODGET\x0b\x07REQUEST_URI/a?b=12\x09\x01HTTP_HOSTh")
	begin, none, stdin := record(1, "\x00\x01\x00\x00\x00\x00\x00\x00"), record(4, ""), record(5, "")
	f := func(want string, pieces ...string) {
		t.Helper()
		var got []string
		var c FastCGI
		for _, p := range pieces {
			known, rest, _ := strings.Cut(p, "‖")
			c.Feed([]byte(known), len(known)+len(rest), func(r trace.Request) {
				got = append(got,
					r.Method+" "+r.Path+" "+r.Host)
			})
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
	f("GET /a h", begin+params+none+stdin)
	f("GET /a h, GET /a h", begin+params+none+stdin, begin+params+none+stdin)
	f("GET /a h", slices.Collect(strings.SplitSeq(begin+params+none, ""))...)
	f("GET /a h, GET /a h", begin+params+none+record(5, "GET / HTTP/1.1")[:12]+"‖0123456789", begin+params+none)
	f("", begin+record(4, "\x0e\x03REQUEST")+none, "garbage", "\x01")
}

// variables returns a request of uwsgi's protocol.
func variables(namesAndValues ...string) string {
	var b []byte
	for _, text := range namesAndValues {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(text))), text...)
	}
	return string(append(binary.LittleEndian.AppendUint16([]byte{0}, uint16(len(b))), 0)) + string(b)
}

func TestUWSGI(t *testing.T) {
	whole := variables("QUERY_STRING", "b=12", "REQUEST_METHOD", "GET", "REQUEST_URI", "/a?b=12", "HTTP_HOST", "h")
	f := func(want string, pieces ...string) {
		t.Helper()
		var got []string
		u := NewRequests([]byte(pieces[0]))
		for _, p := range pieces {
			known, rest, _ := strings.Cut(p, "‖")
			u.Feed([]byte(known), len(known)+len(rest), func(r trace.Request) {
				got = append(got, r.Method+" "+r.Path+" "+r.Host)
			})
		}
		if s := strings.Join(got, ", "); s != want || u.Held() > len(whole) {
			t.Errorf("got %q, want %q; %d bytes are kept", s, want, u.Held())
		}
	}
	f("GET /a h", whole)
	f("GET /a h", whole+"a body", "and more of it", whole)
	f("GET /a h", whole[:4], whole[4:40], whole[40:])
	f("GET /a ", whole[:len(whole)-5]+"‖HOST_")
	f("POST /s ", variables("REQUEST_METHOD", "POST", "SCRIPT_NAME", "/s"))
	f("", variables("REQUEST_METHOD", "GET"))
	f("", whole[:30]+"‖0123456789")
}

func TestName(t *testing.T) {
	for bytes, want := range map[string]string{
		"\x16\x03\x01\x02": "TLS", "PRI * HT": "HTTP/2", "SSH-2.0": "another protocol", "": "another protocol",
	} {
		if got := Name([]byte(bytes)); got != want {
			t.Errorf("%q: %s", bytes, got)
		}
	}
}

func FuzzHTTP(f *testing.F) {
	f.Add([]byte("GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), 20, 5)
	f.Add([]byte("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"), 30, 0)
	f.Fuzz(func(t *testing.T, b []byte, cut, unknown int) {
		cut = min(max(cut, 0), len(b))
		var h HTTP
		each := func(r trace.Request) {
			if r.Method == "" || len(r.Path) > mostPath || len(r.Host) > mostHost {
				t.Errorf("%+v", r)
			}
		}
		h.Feed(b[:cut], cut+unknown%100_000, each)
		h.Feed(b[cut:], len(b)-cut, each)
		if len(h.head) > mostHead {
			t.Errorf("%d bytes are kept", len(h.head))
		}
	})
}

func FuzzFastCGI(f *testing.F) {
	f.Add([]byte(record(1, "\x00\x01\x00\x00\x00\x00\x00\x00")+record(4,
		"\x0e\x03REQUEST_METHODGET\x0b\x07REQUEST_URI/a?b=12")+record(4, "")), 12, 3)
	f.Fuzz(func(t *testing.T, b []byte, cut, unknown int) {
		cut = min(max(cut, 0), len(b))
		var c FastCGI
		each := func(r trace.Request) {
			if r.Method == "" || len(r.Path) > mostPath {
				t.Errorf("%+v", r)
			}
		}
		c.Feed(b[:cut], cut+unknown%100_000, each)
		c.Feed(b[cut:], len(b)-cut, each)
		if len(c.params) > mostHead {
			t.Errorf("%d bytes are kept", len(c.params))
		}
	})
}

func FuzzUWSGI(f *testing.F) {
	f.Add([]byte(variables("REQUEST_METHOD", "GET", "REQUEST_URI", "/a?b=12")), 4, 3)
	f.Fuzz(func(t *testing.T, b []byte, cut, unknown int) {
		cut = min(max(cut, 0), len(b))
		var u UWSGI
		each := func(r trace.Request) {
			if r.Method == "" || len(r.Path) > mostPath {
				t.Errorf("%+v", r)
			}
		}
		u.Feed(b[:cut], cut+max(unknown, 0)%100_000, each)
		u.Feed(b[cut:], len(b)-cut, each)
		if len(u.vars) > mostHead {
			t.Errorf("%d bytes are kept", len(u.vars))
		}
	})
}

func FuzzCommands(f *testing.F) {
	f.Add([]byte("\x09\x00\x00\x00\x03SELECT 1"))
	f.Add([]byte("\x05\x00\x00\x00\x19\x01\x00\x00\x00\x02\x00\x00\x00\x03B"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		Commands(b, func(c Command) { n += 1 + len(QueryText(c.Text)) })
		if n > 2*len(b)+1 {
			t.Errorf("%d of %d bytes", n, len(b))
		}
		ReadReply(b, true)
		ReadReply(b, false)
		Login(b)
		Name(b)
	})
}

func FuzzReadHead(f *testing.F) {
	f.Add([]byte("GET /a?x HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, ok := ReadHead(b); ok && (r.Method == "" || len(r.Path) > mostPath) {
			t.Errorf("%+v", r)
		}
	})
}

// TestFilled: the values of an execution stand in the places of its parameters.
func TestFilled(t *testing.T) {
	const text = "SELECT '?' /* ? */ FROM t WHERE a = ? AND b IN (?, ?) AND c < ? AND d = ? AND e > ? LIMIT ?"
	values := "\x00\x01\x00\x00\x00" + // flags, once
		"\x10" + "\x01" + // the fifth is NULL
		"\xfd\x00\x03\x00\x01\x80\xfd\x00\x06\x00\x0c\x00\x08\x00" +
		"\x03a'b" + "\xfe\xff\xff\xff" + "\xff" + "\x04abcd" + "\x07\xea\x07\x0b\x1e\x14\x05\x09" + "\x0a\x00\x00\x00\x00\x00\x00\x00"
	const want = "SELECT '?' /* ? */ FROM t WHERE a = 0x612762 AND b IN (-2, 255) AND c < 'abcd' AND d = NULL AND " +
		"e > '2026-11-30 20:05:09' LIMIT 10"
	if got, ok := Filled([]byte(text), []byte(values)); !ok || string(got) != want {
		t.Errorf("%v %s", ok, got)
	}
	for n := range len(values) {
		if got, ok := Filled([]byte(text), []byte(values[:n])); ok {
			t.Errorf("of %d bytes: %s", n, got)
		}
	}
	again := strings.Replace(values, "\x10\x01", "\x10\x00", 1) // their types were sent before
	if got, ok := Filled([]byte(text), []byte(again)); ok {
		t.Errorf("without types: %s", got)
	}
}

func FuzzFilled(f *testing.F) {
	f.Add([]byte("SELECT ? FROM t WHERE a = '?' AND b < ?"), []byte("\x00\x01\x00\x00\x00\x00\x01\xfd\x00\x03\x00\x02ab\x01\x00\x00\x00"))
	f.Add([]byte("SELECT ?, ?"), []byte("\x00\x01\x00\x00\x00\x01\x01\x05\x00\x0c\x00\x0b\xea\x07\x01\x02\x03\x04\x05\x06\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text, values []byte) {
		if got, ok := Filled(text, values); ok && len(got) > 30*len(text)+2*len(values) {
			t.Errorf("%d bytes of %d and %d", len(got), len(text), len(values))
		}
	})
}
