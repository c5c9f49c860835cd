package mysqlflags

import (
	"errors"
	"io"
	"net"
	"testing"
)

// TestMeteredConn: an answer is read up to a limit, whatever short messages are written
// within it, and a statement begins another one.
func TestMeteredConn(t *testing.T) {
	long := &overlong{}
	long.most.Store(1000)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	go func() {
		for {
			if _, err := far.Write(make([]byte, 100)); err != nil {
				return
			}
		}
	}()
	c := &meteredConn{Conn: near, long: long}
	read := func() (n int, err error) {
		for b := make([]byte, 100); err == nil; n++ {
			_, err = c.Read(b)
			if n == 3 {
				_, _ = c.Write(make([]byte, mostSaid)) // as TLS does when a server asks for new keys
			}
		}
		return n, err
	}
	for range 2 {
		n, err := read()
		if said := long.take(); n != 12 || said == nil || !errors.Is(err, said) {
			t.Errorf("%d reads, %v, %v", n, err, said)
		}
		if _, err := c.Write(make([]byte, mostSaid+1)); err != nil {
			t.Fatal(err)
		}
	}
}
