//go:build !unix

package agent

import (
	"errors"
	"io"
	"syscall"
)

func (c *conn) open() {}

// advance goes on with the exchange: it writes the request, and then reads once.
func (c *conn) advance() error {
	if c.phase != receiving {
		c.phase = sending
		n, err := c.tcp.Write(c.out)
		if err == nil {
			_, err = c.tcp.Write(c.bulk)
		}
		c.wrote = c.wrote || n > 0
		if err != nil {
			return c.cause(err)
		}
		c.phase = receiving
	}
	n, err := c.tcp.Read(c.in)
	c.n = n
	if n > 0 || err == io.EOF {
		return nil
	}
	return c.cause(err)
}

// cause takes the number of a failed system call out of an error.
func (c *conn) cause(err error) error {
	if errors.As(err, &c.errno) {
		return nil
	}
	return err
}
