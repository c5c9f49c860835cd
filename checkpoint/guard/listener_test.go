package guard

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestListener: a guard process whose recorder died sends nothing to a server that has got
// the port or the socket of the recorded one, and does to the same, be it restarted.
func TestListener(t *testing.T) {
	f := func(network string, asks bool, change func(*Listener)) {
		t.Helper()
		dir, address := t.TempDir(), "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(dir, "s")
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var calls atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				calls.Add(1)
				_ = c.Close()
				cancel()
			}
		}()
		was, pid := listenerAt(network, l.Addr().String())
		if was.Socket == "" || was.Data == "" || pid == "" {
			t.Fatalf("%s: %+v of %q", network, was, pid)
		}
		change(&was)
		me := ThisProcess("/a")
		me.Start++ // it has died
		file := file{path: filepath.Join(dir, "mariadb-x.json")}
		if err := file.save(&Journal{Holders: []Holder{me}}); err != nil {
			t.Fatal(err)
		}
		if !asks {
			cancel() // one attempt is made
		}
		dsn := "app@" + network + "(" + l.Addr().String() + ")/"
		legacy := Legacy{Request: Request{Dir: dir, DSN: dsn, Holder: me, Listener: was}}
		err = legacy.Recover(ctx, func(Left) error { return nil })
		_ = l.Close()
		<-ended
		if err == nil || errors.Is(err, ErrOtherServer) == asks || (calls.Load() > 0) != asks {
			t.Errorf("%s: %+v: %v, %d connections", network, was, err, calls.Load())
		}
	}
	for _, network := range []string{"tcp", "unix"} {
		f(network, true, func(*Listener) {})
		f(network, true, func(l *Listener) { *l = Listener{} }) // on another host
		f(network, true, func(l *Listener) { l.Socket = "1" })  // restarted
		f(network, false, func(l *Listener) { l.Socket, l.Data = "1", "another" })
		f(network, false, func(l *Listener) { l.Socket, l.Data = "1", "" }) // whose process cannot be seen
	}
}
