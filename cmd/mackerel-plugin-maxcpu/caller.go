package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A caller asks a sampler.
type caller struct {
	conn net.Conn
	in   *json.Decoder
}

// errForeign means that the socket is not ours to talk to.
var errForeign = errors.New("belongs to another user")

// dial connects to a sampler of the given user. The error is errForeign for the socket
// of somebody else, and wraps that of the system when nothing answers.
func dial(path string, uid int) (*caller, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid {
		return nil, fmt.Errorf("socket %s %w", path, errForeign)
	}
	if info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is not a socket", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return nil, err
	}
	if peer, err := peerUID(conn); err != nil || peer != uid {
		return nil, errors.Join(fmt.Errorf("the process that serves socket %s %w", path, errForeign), err, conn.Close())
	}
	return &caller{conn, json.NewDecoder(io.LimitReader(conn, maxAnswer))}, nil
}

// peerUID returns whose process listens at the other end.
func peerUID(conn net.Conn) (int, error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return -1, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return -1, err
	}
	if credErr != nil {
		return -1, credErr
	}
	return int(cred.Uid), nil
}

// call sends a request and reads the answer.
func (c *caller) call(r request, reply any, limit time.Duration) error {
	r.Protocol = protocol
	if err := c.conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if err := json.NewEncoder(c.conn).Encode(r); err != nil {
		return err
	}
	return c.in.Decode(reply)
}

// hello reports whether a sampler that speaks this protocol answers.
func (c *caller) hello(limit time.Duration) error {
	var g greeting
	if err := c.call(request{Word: wordHello}, &g, limit); err != nil {
		return err
	}
	if g.Protocol != protocol {
		return fmt.Errorf("the sampler speaks protocol %d", g.Protocol)
	}
	return nil
}

func (c *caller) close() error { return c.conn.Close() }

// A former is the sampler before this one; nil when there is none.
type former struct{ c *caller }

// takeOver gets the samples of the sampler that answers at the socket, if one does.
// That one goes on until dismiss. An error means that the socket is not ours.
func takeOver(path string, s *sampler) (*former, error) {
	c, err := dial(path, os.Geteuid())
	if errors.Is(err, errForeign) {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilerror // nothing is there: the usual start
	}
	var r ring
	// The clock is read after the answer: the former sampler samples until it gives it.
	if c.hello(answerIn) != nil || c.call(request{Word: wordSamples}, &r, answerIn) != nil || !r.usable(time.Now()) {
		return nil, c.close() // a sampler of another kind; it ends by itself when idle
	}
	s.ring = &r
	return &former{c}, nil
}

// usable reports whether the samples can be gone on with.
func (r *ring) usable(now time.Time) bool {
	return r.Askers != nil && r.Base.All != ticks{} && r.BaseAt <= now.UnixNano() &&
		now.UnixNano()-r.BaseAt < keep.Nanoseconds()
}

// dismiss asks the former sampler to end: this one answers now. When that fails it
// sees by itself that the socket is not its own any more.
func (f *former) dismiss() {
	if f == nil {
		return
	}
	var g greeting
	_ = f.c.call(request{Word: wordYield}, &g, answerIn) // see above
	_ = f.c.close()
}

// keep lets the former sampler go on.
func (f *former) keep() error {
	if f == nil {
		return nil
	}
	return f.c.close()
}
