package redis

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	mostBytes = 1 << 20 // of an answer; INFO has 6 kB
	mostLine  = 4 << 10 // of a line
)

// A Conn is a connection to a server. It knows the answers that are no lists:
// enough for INFO, PING, CONFIG SET and SLOWLOG LEN. It is not safe for concurrent
// use.
type Conn struct {
	conn net.Conn
	r    *bufio.Reader
	out  []byte
	body []byte
}

// A RefusedError is the server's word that it does not do what was asked.
type RefusedError struct{ Text string }

// Error returns the server's text, quoted: it is not ours.
func (e *RefusedError) Error() string { return fmt.Sprintf("redis: it answers %q", e.Text) }

// Dial connects and, with a password, authenticates.
func Dial(ctx context.Context, s Server) (*Conn, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, r: bufio.NewReaderSize(conn, mostLine)}
	if s.Password != "" {
		args := []string{s.Password}
		if s.User != "" {
			args = []string{s.User, s.Password}
		}
		if _, err := c.Do(ctx, "AUTH", args...); err != nil {
			_ = conn.Close()
			return nil, hinted(err)
		}
	}
	return c, nil
}

// Close gives the connection up.
func (c *Conn) Close() error { return c.conn.Close() }

// Do sends a command and returns what the server answers; the bytes are good until
// the next call. What the server refuses is a *RefusedError, after which the
// connection is as good as before; after any other error it is not.
func (c *Conn) Do(ctx context.Context, command string, args ...string) ([]byte, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(answerLimit)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	c.out = append(c.out[:0], '*')
	c.out = strconv.AppendInt(c.out, int64(1+len(args)), 10)
	c.out = append(c.out, "\r\n"...)
	c.add(command)
	for _, a := range args {
		c.add(a)
	}
	_, err := c.conn.Write(c.out)
	if _, over := c.conn.(*tls.Conn); err == nil || over {
		// A server that refuses this client's certificate says so after the handshake,
		// and ends the connection: what it said is there though nothing can be written
		// (RFC 8446, 4.4.2.4).
		var read error
		c.body, read = readReply(c.r, c.body)
		if err == nil || read != nil && strings.Contains(read.Error(), "tls: ") {
			err = read
		}
	}
	if err == nil || errors.As(err, new(*RefusedError)) {
		return c.body, err
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.DeadlineExceeded
	} else if errors.Is(err, io.EOF) {
		err = errors.New("it ended the connection")
	}
	return nil, fmt.Errorf("redis: %s: %w", command, err)
}

func (c *Conn) add(arg string) {
	c.out = append(c.out, '$')
	c.out = strconv.AppendInt(c.out, int64(len(arg)), 10)
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, arg...)
	c.out = append(c.out, "\r\n"...)
}

// readReply reads one answer into buf and returns it: a simple string, a number as
// its digits, a bulk string; what is null is empty.
func readReply(r *bufio.Reader, buf []byte) ([]byte, error) {
	buf = buf[:0]
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return buf, fmt.Errorf("a line of more than %d bytes", mostLine)
	}
	if err != nil {
		return buf, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return buf, fmt.Errorf("no answer of Redis: %.40q", line)
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+', ':':
		return append(buf, text...), nil
	case '-':
		return buf, &RefusedError{string(text)}
	case '$':
		n, err := strconv.ParseInt(string(text), 10, 32)
		if err != nil || n < -1 || n > mostBytes {
			return buf, fmt.Errorf("an answer of %.20q bytes", text)
		}
		if n == -1 {
			return buf, nil
		}
		if int64(cap(buf)) < n+2 {
			buf = make([]byte, 0, n+2+1024) // INFO grows by a digit now and then
		}
		buf = buf[:n+2]
		if _, err := io.ReadFull(r, buf); err != nil {
			return buf[:0], err
		}
		if string(buf[n:]) != "\r\n" {
			return buf[:0], errors.New("an answer that does not end where it should")
		}
		return buf[:n], nil
	}
	return buf, fmt.Errorf("no answer of Redis: %.40q", line)
}

// A hintedError reports what to do about what the server refused.
type hintedError struct {
	error
	hint string
}

// Unwrap returns the refusal.
func (e *hintedError) Unwrap() error { return e.error }

// Hint returns what to do.
func (e *hintedError) Hint() string { return e.hint }

// hinted adds what to do about an answer that the password makes, or TLS.
func hinted(err error) error {
	var refused *RefusedError
	hint := ""
	if errors.As(err, &refused) {
		hint = refusedHint(refused.Text)
	} else {
		hint = tlsHint(err)
	}
	if hint == "" {
		return err
	}
	return &hintedError{err, hint}
}

func refusedHint(text string) string {
	word, _, _ := strings.Cut(text, " ")
	switch {
	case word == "NOAUTH":
		return "put the password into an environment variable and name it: [redis] password_env"
	case word == "WRONGPASS" || strings.Contains(text, "invalid password"):
		return "the variable that [redis] password_env names holds another password"
	case word == "NOPERM":
		return "let the user ask: ACL SETUSER NAME +info +slowlog|len"
	case word == "DENIED":
		return "protected mode: reach it over loopback, or give it a password"
	}
	return ""
}

// tlsHint describes what to do when one side speaks TLS and the other does not, or the
// certificates do not please.
func tlsHint(err error) string {
	var name x509.HostnameError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "name the certificate of its authority: [redis] cacert = '/etc/redis/ca.crt'"
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for %.200q: [redis] sni says which of them to expect",
			append(slices.Clone(name.Certificate.DNSNames), addresses(name.Certificate)...))
	case errors.As(err, new(tls.RecordHeaderError)):
		return "it does not speak TLS here: address = 'redis://…'"
	case strings.Contains(err.Error(), "tls: certificate required"),
		strings.Contains(err.Error(), "remote error: tls: handshake failure"):
		return "it wants a certificate of its clients: [redis] cert and key"
	case errors.Is(err, syscall.ECONNRESET):
		return "does it speak TLS there? address = 'rediss://…'"
	}
	return ""
}

func addresses(c *x509.Certificate) (out []string) {
	for _, ip := range c.IPAddresses {
		out = append(out, ip.String())
	}
	return out
}
