package memcached

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// A Table is [memcached] of kasoku.toml.
type Table struct {
	At string `toml:"address" eg:"'127.0.0.1:11211'"` // host:port, or the path of a socket
}

// IsSet reports whether the server is to be read.
func (t *Table) IsSet() bool { return t.At != "" }

// Address returns where the server is.
func (t *Table) Address() string { return t.At }

// Check returns what is wrong with the address.
func (t *Table) Check() []observe.Fault {
	if t.At == "" {
		return nil
	}
	if _, err := New(t.At); err != nil {
		return []observe.Fault{{
			Key: "address", Text: fmt.Sprintf("%q: want host:port or the path of a socket", t.At),
			Hint: "such as '127.0.0.1:11211'",
		}}
	}
	return nil
}

// Open returns the source.
func (t *Table) Open() (observe.Source, error) {
	s, err := New(t.At)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// findServer asks a server at an address for its numbers.
func findServer(ctx context.Context, address string) (key, value string, err error) {
	s, err := New(address)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = s.Close() }() // nothing was written
	if err := s.Collect(ctx, new(kasoku.Frame)); err != nil {
		return "", "", err
	}
	return "address", address, nil
}
