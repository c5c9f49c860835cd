//go:build !race

package agent

import (
	"context"
	"net"
	"testing"
)

// TestRequestDoesNotAllocate: a user who releases answers leaves nothing to the
// garbage collector.
func TestRequestDoesNotAllocate(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go acceptSink(ln)
	a := open(t, Options{BaseURL: "http://" + ln.Addr().String()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, r := range []*Request{
		{Path: "/list?page=0"},
		{Method: "POST", Path: "/buy", ContentType: "application/json", Body: []byte("{}")},
	} {
		one := func() {
			res, err := a.Do(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			res.Release()
		}
		one()
		if n := testing.AllocsPerRun(200, one); n != 0 {
			t.Errorf("%s %s: %v allocations, want 0", r.method(), r.Path, n)
		}
	}
}
