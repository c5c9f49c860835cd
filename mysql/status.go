package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Value is one numeric status variable.
type Value struct {
	Name  string // as the server spells it: Threads_connected
	Value float64
}

// A Status is the numeric part of SHOW GLOBAL STATUS. Its zero value is ready
// for [Reader.ReadStatus], which reuses its memory.
type Status struct {
	Values []Value       // in the server's order
	At     time.Time     // when the answer was complete
	Uptime time.Duration // whole seconds
	names  interner
}

// Get returns a value by name.
func (s *Status) Get(name string) (float64, bool) {
	for i := range s.Values {
		if s.Values[i].Name == name {
			return s.Values[i].Value, true
		}
	}
	return 0, false
}

// Issued returns how many statements the server has counted, NaN when it does not
// report that. The end of a session is counted among Questions (COM_QUIT) but is none
// that a slow log holds; it is taken off.
func (s *Status) Issued() float64 {
	var v [3]float64
	for i, name := range []string{"Questions", "Connections", "Threads_connected"} {
		var ok bool
		if v[i], ok = s.Get(name); !ok {
			return math.NaN()
		}
	}
	ended := v[1] - v[2]
	return v[0] - ended
}

// mostVariables bounds those of one answer: MySQL 9.7 has 700, MariaDB 1,100.
const mostVariables = 10_000

var errTooManyVariables = fmt.Errorf("%w: the server has more than %d variables", ErrUnexpected, mostVariables)

// ShowStatus asks for all status variables of the server.
const ShowStatus = "/* kasoku */ SHOW GLOBAL STATUS"

// ReadStatus reads the numeric status variables into s, whose memory it
// reuses. It is meant to be called each second. After an error s holds what
// was read before it.
func (r *Reader) ReadStatus(ctx context.Context, s *Status) error {
	err := r.with(ctx, func(conn *session) error {
		s.Values = s.Values[:0]
		var name, value sql.RawBytes
		at := 0
		err := conn.query(ctx, ShowStatus, func() error {
			if at == mostVariables {
				return errTooManyVariables
			}
			if v, ok := number(value); ok && len(name) <= mostName {
				s.Values = append(s.Values, Value{s.names.at(at, name), v})
			}
			at++
			return nil
		}, &name, &value)
		conn.showed(ShowStatus, at)
		return err
	})
	if err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	s.At = time.Now()
	up, _ := s.Get("Uptime")
	s.Uptime = time.Duration(up) * time.Second
	return nil
}

// Status returns all status variables, texts included.
func (r *Reader) Status(ctx context.Context) (map[string]string, error) {
	m, err := r.pairs(ctx, ShowStatus)
	if err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	return m, nil
}

// Variables returns the global variables.
func (r *Reader) Variables(ctx context.Context) (map[string]string, error) {
	m, err := r.pairs(ctx, "/* kasoku */ SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, fmt.Errorf("read variables: %w", err)
	}
	return m, nil
}

// pairs runs a query that gives names and values.
func (r *Reader) pairs(ctx context.Context, query string) (map[string]string, error) {
	var m map[string]string
	err := r.with(ctx, func(conn *session) error {
		m = make(map[string]string, 1024) // a MySQL 9.7 has about 700 variables
		var name, value sql.RawBytes
		err := conn.query(ctx, query, func() error {
			if len(m) == mostVariables {
				return errTooManyVariables
			}
			m[string(name)] = string(value)
			return nil
		}, &name, &value)
		conn.showed(query, len(m))
		return err
	})
	return m, err
}

// showed notes an answer to [ShowStatus].
func (s *session) showed(query string, rows int) {
	if query == ShowStatus {
		s.shown.answers++
		s.shown.rows += float64(rows)
	}
}

// number reads a status value: digits, a sign, a point. Words such as ON are no
// numbers, nor are names such as Inf.
func number(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > 40 {
		return 0, false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != '-' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}

// An interner gives out the same string for the same name at the same place: the
// server sends its variables in the same order each time.
type interner struct{ names []string }

func (n *interner) at(i int, name []byte) string {
	if i < len(n.names) && n.names[i] == string(name) {
		return n.names[i]
	}
	s := string(name)
	for len(n.names) <= i {
		n.names = append(n.names, "")
	}
	n.names[i] = s
	return s
}
