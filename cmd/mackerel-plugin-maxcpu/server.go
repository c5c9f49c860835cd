package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// The protocol: a request is one JSON value, the answer is one JSON value. After the
// answer to wordSamples the new sampler says wordYield on the same connection once it
// answers itself; the old one ends then.
const (
	wordHello   = "hello"
	wordStats   = "stats"
	wordSamples = "samples"
	wordYield   = "yield"
)

// protocol is the version of the words; a sampler of another one is not asked.
const protocol = 2

type request struct {
	Protocol int
	Word     string
	Asker    string        // of wordStats
	Interval time.Duration // that it wants between samples
}

// greeting is the answer to wordHello and wordYield.
type greeting struct{ Protocol int }

const (
	// answerIn is how long an answer may take: the machine may be at its limit.
	answerIn = 10 * time.Second
	// maxRequest is the longest request, in bytes; the asker is a path.
	maxRequest = 16 << 10
	// maxAnswer is the longest answer: 3,600 samples of 128 CPUs, with room.
	maxAnswer = 64 << 20
)

// A server answers on the socket.
type server struct {
	path string
	file string // identity of the socket
	ln   *net.UnixListener
	s    *sampler
	wg   sync.WaitGroup
	quit chan struct{} // closed by close

	mu    sync.Mutex // guards conns, ended
	conns map[net.Conn]bool
	ended bool
}

// listen puts the socket in its place in one step, with mode 0600 from the beginning:
// what was there before answers until then. It does not replace what is no socket.
func listen(path string, s *sampler) (*server, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is not a socket: it is left alone", path)
	}
	temp := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listen: %w", err)
	}
	old := syscall.Umask(0o177)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	ln.SetUnlinkOnClose(false)
	srv := &server{path: path, file: fileID(temp), ln: ln, s: s, quit: make(chan struct{}), conns: map[net.Conn]bool{}}
	if err := os.Rename(temp, path); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), ln.Close(), os.Remove(temp))
	}
	srv.wg.Go(srv.serve)
	return srv, nil
}

// lost reports whether the path leads to somebody else, or nowhere.
func (srv *server) lost() bool { return fileID(srv.path) != srv.file }

// serve accepts until close.
func (srv *server) serve() {
	for {
		conn, err := srv.ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// No more descriptors: some will be given back.
			select {
			case <-srv.quit:
				return
			case <-time.After(100 * time.Millisecond):
				continue
			}
		}
		srv.mu.Lock()
		if srv.ended {
			srv.mu.Unlock()
			_ = conn.Close() // nothing has been answered
			continue
		}
		srv.conns[conn] = true
		srv.wg.Go(func() { srv.answer(conn) })
		srv.mu.Unlock()
	}
}

// answer answers the requests of one connection.
func (srv *server) answer(conn net.Conn) {
	defer func() {
		_ = conn.Close() // what was to be said has been said
		srv.mu.Lock()
		delete(srv.conns, conn)
		srv.mu.Unlock()
	}()
	in := json.NewDecoder(io.LimitReader(conn, maxRequest))
	out := json.NewEncoder(conn)
	for {
		if err := conn.SetDeadline(time.Now().Add(answerIn)); err != nil {
			return
		}
		var r request
		if in.Decode(&r) != nil || r.Protocol != protocol {
			return
		}
		var reply any = greeting{protocol}
		switch r.Word {
		case wordHello:
		case wordStats:
			reply = srv.s.ask(r.Asker, r.Interval)
		case wordSamples:
			reply = srv.s.snapshot()
		case wordYield:
			defer srv.s.yield()
		default:
			return
		}
		if out.Encode(reply) != nil {
			return
		}
	}
}

// close ends all connections, and removes the socket if it is still this one's.
func (srv *server) close() error {
	var err error
	if !srv.lost() {
		err = os.Remove(srv.path)
	}
	close(srv.quit)
	err = errors.Join(err, srv.ln.Close())
	srv.mu.Lock()
	srv.ended = true
	for conn := range srv.conns {
		_ = conn.SetDeadline(time.Now()) // it is closed by its own goroutine
	}
	srv.mu.Unlock()
	srv.wg.Wait()
	return err
}
