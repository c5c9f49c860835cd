package play

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// An ownSender is a client of HTTP/1.1 that does next to nothing: a pool of connections, a
// request in one write, and of an answer the status and as many bytes as it says. It is what a
// client may try in place of net/http to find that it was not the limit.
type ownSender struct {
	host       string
	oneRequest bool
	free       chan *ownConn
}

type ownConn struct {
	net.Conn
	in *bufio.Reader
}

func newOwnSender(host string, oneRequest bool) *ownSender {
	return &ownSender{host, oneRequest, make(chan *ownConn, mostConnections)}
}

func (s *ownSender) close() {
	for {
		select {
		case c := <-s.free:
			c.Close()
		default:
			return
		}
	}
}

func (s *ownSender) send(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	c, err := s.connect(ctx)
	if err != nil {
		return 0, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // a closed one has none
	keep := ""
	if s.oneRequest {
		keep = "Connection: close\r\n"
	}
	_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, s.host, keep, len(body), body)
	closes := s.oneRequest
	if err == nil {
		status, answer, closes, err = readOwn(c.in)
	}
	if !stop() || err != nil || closes || s.oneRequest {
		c.Close()
		return status, answer, err
	}
	select {
	case s.free <- c:
	default:
		c.Close()
	}
	return status, answer, nil
}

// connect takes a connection that is free, or makes one.
func (s *ownSender) connect(ctx context.Context) (*ownConn, error) {
	select {
	case c := <-s.free:
		return c, nil
	default:
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", s.host)
	if err != nil {
		return nil, err
	}
	return &ownConn{c, bufio.NewReader(c)}, nil
}

// readOwn reads an answer that says how long its body is, as all of the game's do.
func readOwn(in *bufio.Reader) (status int, body []byte, closes bool, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, nil, true, err
	}
	if _, rest, ok := strings.Cut(line, " "); !ok || len(rest) < 3 {
		return 0, nil, true, fmt.Errorf("no status in %q", line)
	} else if status, err = strconv.Atoi(rest[:3]); err != nil {
		return 0, nil, true, err
	}
	length := -1
	for {
		if line, err = in.ReadString('\n'); err != nil {
			return 0, nil, true, err
		}
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok {
			break
		}
		switch value = strings.TrimSpace(value); strings.ToLower(name) {
		case "content-length":
			length, err = strconv.Atoi(value)
		case "connection":
			closes = strings.EqualFold(value, "close")
		}
		if err != nil {
			return 0, nil, true, err
		}
	}
	if length < 0 || length > mostAnswer {
		return 0, nil, true, errors.New("an answer that does not say how long it is, or is too long")
	}
	body = make([]byte, length)
	_, err = io.ReadFull(in, body)
	return status, body, closes, err
}
