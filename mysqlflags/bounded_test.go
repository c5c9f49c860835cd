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

// TestColumnsOf: an answer says at its start how many columns it has.
func TestColumnsOf(t *testing.T) {
	f := func(head string, want uint64) {
		t.Helper()
		if got := columnsOf([]byte(head)); got != want {
			t.Errorf("% x: %d columns, want %d", head, got, want)
		}
	}
	f("", 0)
	f("\x01\x00\x00\x01\x02", 0) // two columns: one byte, too few to mind
	f("\x03\x00\x00\x01\xfc\x00\x10", 4096)
	f("\x04\x00\x00\x01\xfd\xff\xff", 0) // not all of it yet
	f("\x04\x00\x00\x01\xfd\xff\xff\xff", 1<<24-1)
	f("\x09\x00\x00\x01\xfe\xff\xff\xff\xff\x00\x00\x00\x00", 1<<32-1)
	f("\x05\x00\x00\x01\xfe\x00\x00\x02\x00", 0) // the end of rows
	f("\x2c\x00\x00\x01\xfemysql_native_password", 0)
}
