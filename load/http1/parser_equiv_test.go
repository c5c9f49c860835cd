package http1

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
)

// An outcome is what came of one answer.
type outcome struct {
	code     int
	status   string
	location string
	body     uint64
	err      string
	inHeader bool // err came before the header was complete
	early    bool // err came before all bytes were used and more were asked for
	kept     bool // the connection may be used again

	data   string // the body
	fields string // the header, sorted, without what net/http takes out of it
}

// byParser feeds the pieces to a parser and then lets the connection end with
// end. surplus: there was more than the answer.
func byParser(p *Parser, head bool, pieces [][]byte, end error) (o outcome, surplus bool) {
	if p.Keep != nil {
		p.Keep.Body = p.Keep.Body[:0]
	}
	p.Start(head)
	done := false
	var err error
	for i, b := range pieces {
		var n int
		if n, done, err = p.Feed(b); n < 0 || n > len(b) {
			panic("fed beyond what there was")
		}
		if done || err != nil {
			surplus = n < len(b) || len(bytes.Join(pieces[i+1:], nil)) > 0
			break
		}
		if n < len(b) {
			panic("bytes are left although the answer is not done")
		}
	}
	early := err != nil
	if !done && err == nil {
		if end == io.EOF {
			_, err = p.EOF()
		} else {
			err = p.Broke(end)
		}
	}
	if err != nil {
		return outcome{err: err.Error(), inHeader: p.AwaitsHeader(), early: early, body: p.Body}, surplus
	}
	o = outcome{code: p.Code, body: p.Body, kept: p.KeepAlive}
	if !success(o.code) {
		o.status = p.Status
	}
	o.location = string(p.Location)
	if p.Keep != nil {
		o.data, o.fields = string(p.Keep.Body), sortedFields(p.Keep.Header)
	}
	return o, surplus
}

// sortedFields writes the fields of a header as net/http does.
func sortedFields(lines []byte) string {
	h, err := textproto.NewReader(bufio.NewReader(io.MultiReader(bytes.NewReader(lines), strings.NewReader("\r\n")))).ReadMIMEHeader()
	if err != nil {
		return err.Error()
	}
	return fields(http.Header(h))
}

// fields writes a header without what net/http has acted on, and taken out of it
// or not.
func fields(h http.Header) string {
	for _, name := range []string{"Transfer-Encoding", "Content-Length", "Trailer", "Connection"} {
		h.Del(name)
	}
	var b strings.Builder
	_ = h.Write(&b)
	return b.String()
}

func success(code int) bool { return code >= 200 && code < 400 }

// byTransport is the obvious way: it gives the pieces to net/http.
func byTransport(t testing.TB, method string, pieces [][]byte, end error) (o outcome) {
	conn := &scripted{pieces: pieces, end: end, wrote: make(chan struct{})}
	tr := &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DisableCompression:     true,
		MaxResponseHeaderBytes: load.MaxResponseHeader,
	}
	defer tr.CloseIdleConnections()
	trace := &httptrace.ClientTrace{PutIdleConn: func(err error) { o.kept = err == nil }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), method, "http://host/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return outcome{err: err.Error(), inHeader: true, early: !conn.asked.Load()}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols { // what follows it is no body
		var b []byte
		b, err = io.ReadAll(resp.Body)
		o.body, o.data = uint64(len(b)), string(b)
	}
	if err != nil {
		return outcome{err: err.Error(), early: !conn.asked.Load(), body: o.body}
	}
	o.code, o.fields = resp.StatusCode, fields(resp.Header)
	if !success(o.code) {
		o.status = resp.Status
	} else if o.code >= 300 {
		o.location = resp.Header.Get("Location")
	}
	return o
}

// A scripted connection waits for a request, gives the pieces one by one, and
// ends.
type scripted struct {
	pieces [][]byte
	end    error
	wrote  chan struct{}
	begun  bool
	asked  atomic.Bool // for more than the pieces
}

func (c *scripted) Read(b []byte) (int, error) {
	<-c.wrote
	for len(c.pieces) > 0 && len(c.pieces[0]) == 0 {
		c.pieces = c.pieces[1:]
	}
	if len(c.pieces) == 0 {
		c.asked.Store(true)
		err := c.end
		c.end = io.EOF
		return 0, err
	}
	n := copy(b, c.pieces[0])
	c.pieces[0] = c.pieces[0][n:]
	return n, nil
}

func (c *scripted) Write(b []byte) (int, error) {
	if !c.begun {
		c.begun = true
		close(c.wrote)
	}
	return len(b), nil
}

func (*scripted) Close() error                     { return nil }
func (*scripted) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*scripted) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*scripted) SetDeadline(time.Time) error      { return nil }
func (*scripted) SetReadDeadline(time.Time) error  { return nil }
func (*scripted) SetWriteDeadline(time.Time) error { return nil }

// errReset is what a reset connection gives.
var errReset = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// cut splits the answer: after the first bytes of sizes[0], then sizes[1] …, the
// rest is one piece.
func cut(answer []byte, sizes []byte) [][]byte {
	var out [][]byte
	for _, n := range sizes {
		k := min(int(n), len(answer))
		out = append(out, answer[:k:k])
		answer = answer[k:]
	}
	return append(out, answer)
}

func sameAsTransport(t *testing.T, p *Parser, method string, answer, sizes []byte, end error) {
	t.Helper()
	got, surplus := byParser(p, method == "HEAD", cut(answer, sizes), end)
	want := byTransport(t, method, cut(answer, sizes), end)
	if surplus {
		got.kept, want.kept = false, false // it cannot be used, whatever the server says
	}
	if strings.HasSuffix(got.err, "message too large") {
		got.early = want.early // net/http says so before the line ends
	}
	if p.Keep == nil {
		got.data, got.fields = want.data, want.fields
	}
	if got != want {
		t.Errorf("%s, %d bytes cut at %.20v, then %v:\n%.300q\n got %+v\nwant %+v", method, len(answer), sizes, end, answer, got, want)
	}
}

func ends(reset bool) error {
	if reset {
		return errReset
	}
	return io.EOF
}

// FuzzParser feeds the same bytes to the parser and to net/http.
func FuzzParser(f *testing.F) {
	for _, a := range answers() {
		f.Add([]byte(a), []byte{}, false, false)
		f.Add([]byte(a), []byte{1, 9, 8, 30}, true, true)
	}
	f.Fuzz(func(t *testing.T, answer, sizes []byte, head, reset bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		sameAsTransport(t, &Parser{Memo: &Memo{}, Keep: &Kept{}}, method, answer, sizes, ends(reset))
	})
}

// TestMain silences net/http, which logs what servers send unasked.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// TestSameAsTransport judges every answer whole, byte by byte, and cut off after
// every byte, as GET and as HEAD, with one parser for all.
func TestSameAsTransport(t *testing.T) {
	turn.Wait(t)
	for _, keep := range []*Kept{nil, {}} {
		sameOnAnswers(t, &Parser{Memo: &Memo{}, Keep: keep})
	}
}

func sameOnAnswers(t *testing.T, p *Parser) {
	bytewise := make([]byte, 400)
	for i := range bytewise {
		bytewise[i] = 1
	}
	for _, a := range answers() {
		answer := []byte(a)
		for _, method := range []string{"GET", "HEAD"} {
			for range 2 { // the second time the header is known
				sameAsTransport(t, p, method, answer, nil, io.EOF)
			}
			sameAsTransport(t, p, method, answer, bytewise, io.EOF)
			sameAsTransport(t, p, method, answer, nil, errReset)
		}
		for n := range min(len(answer), 300) {
			sameAsTransport(t, p, "GET", answer[:n], nil, io.EOF)
			sameAsTransport(t, p, "GET", answer[:n], nil, errReset)
			sameAsTransport(t, p, "GET", answer, []byte{byte(n), 2, 1}, io.EOF)
		}
	}
}
