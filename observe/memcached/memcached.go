// Package memcached is the source "memcached": what a memcached counts of its work, its
// items and its memory.
//
// The one idea: the command stats once a second over one kept connection. Of its hundred
// lines those are kept that say whether the cache does its work, and whether it is the
// limit: hits and misses, items that went, memory and its limit, connections.
//
// A server that does not answer costs a gap with the reason. Counters start at zero when
// the server is restarted, or receives "stats reset". The commands of this source are in
// none of its numbers but the bytes.
//
// # Units and clock
//
// The keys are memcached's own. CPU times are seconds, memory is bytes, all else counts.
//
// Source: memcached, doc/protocol.txt, "Statistics" (text protocol).
package memcached

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

const (
	answerLimit = 2 * time.Second
	mostLine    = 512 // bytes of a line, which has 50
	mostLines   = 400 // of an answer, which has 100
)

// A Source reads one server. It is not safe for concurrent use.
type Source struct {
	network, address string
	conn             net.Conn
	in               *bufio.Reader
}

// New returns a source for the server at host:port, or at the path of a socket. It
// connects at the first Collect.
func New(address string) (*Source, error) {
	s := &Source{network: "tcp", address: address}
	if strings.HasPrefix(address, "/") {
		s.network = "unix"
		return s, nil
	}
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
		return nil, fmt.Errorf("memcached: %q: want host:port or the path of a socket", address)
	}
	return s, nil
}

// Name returns "memcached".
func (s *Source) Name() string { return Name }

// Collect asks the server. It fails when there is no answer, or another one.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	err := s.ask(ctx, f)
	if err == nil {
		return nil
	}
	_ = s.Close() // it may be in the middle of an answer
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return fmt.Errorf("memcached: no answer within %s", answerLimit)
	}
	return fmt.Errorf("memcached: %w", err)
}

func (s *Source) ask(ctx context.Context, f *kasoku.Frame) (err error) {
	if s.conn == nil {
		if s.conn, err = new(net.Dialer).DialContext(ctx, s.network, s.address); err != nil {
			return err
		}
		s.in = bufio.NewReaderSize(s.conn, mostLine)
	}
	deadline, _ := ctx.Deadline()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := s.conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := io.WriteString(s.conn, "stats\r\n"); err != nil {
		return err
	}
	return parseStats(s.in, f)
}

// Close gives the connection up.
func (s *Source) Close() error {
	if s.conn == nil {
		return nil
	}
	err := s.conn.Close()
	s.conn = nil
	return err
}

// parseStats appends what is kept of an answer, up to its END:
//
//	STAT pid 1204
//	STAT cmd_get 31
//	END
func parseStats(in *bufio.Reader, f *kasoku.Frame) error {
	found := false
	for range mostLines {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("stats: a line of more than %d bytes", mostLine)
		}
		if err != nil {
			return fmt.Errorf("stats: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if string(line) == "END" {
			if !found {
				return errors.New("stats: none of the numbers that memcached has")
			}
			return nil
		}
		rest, ok := bytes.CutPrefix(line, []byte("STAT "))
		if !ok {
			return fmt.Errorf("stats: it answers %.80q", line)
		}
		name, value, _ := bytes.Cut(rest, []byte{' '})
		signal, ok := kept(name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil || !(v >= 0 && v < 1e300) {
			return fmt.Errorf("stats: %s is no number: %.40q", signal.Key, value)
		}
		found = true
		f.Samples = append(f.Samples, kasoku.Sample{Name: signal.Key, Kind: signal.Kind, Unit: signal.Unit, Value: v})
	}
	return fmt.Errorf("stats: more than %d lines", mostLines)
}
