package rowjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A List is an answer that holds rows.
type List struct {
	Count int64    // -1 when the answer has none
	Rows  [][]byte // the bytes of each row, parts of the answer
}

// errTruncated means that the answer ends within its JSON.
var errTruncated = errors.New("the answer ends early")

// Split reads {"count":N,"NAME":[{…},…]}, or without the count when it is not
// counted, in place of what l held. Other keys, missing ones, values of another
// kind, a number with a fraction or an exponent, and bytes after the end are
// errors.
//
// Braces and quotes alone show that a row is an object: whoever takes one has
// to decode it, or know its bytes. Then, and only then, is the whole answer known
// to be valid JSON.
func (l *List) Split(body []byte, name string, counted bool) error {
	l.Count, l.Rows = -1, l.Rows[:0]
	s := scanner{body: body}
	if err := s.take('{'); err != nil {
		return err
	}
	listed := false
	for more := s.peek() != '}'; more; {
		key, err := s.key()
		if err != nil {
			return err
		}
		switch {
		case key == name && !listed:
			listed = true
			err = s.rows(l)
		case key == "count" && counted && l.Count < 0:
			l.Count, err = s.count()
		case key == name || key == "count" && counted:
			err = fmt.Errorf("the key %q twice", key)
		default:
			err = fmt.Errorf("the key %q, which the API does not have there", key)
		}
		if err != nil {
			return err
		}
		if more = s.peek() == ','; more {
			s.at++
		}
	}
	if err := s.take('}'); err != nil {
		return err
	}
	switch {
	case !listed:
		return fmt.Errorf("no key %q", name)
	case counted && l.Count < 0:
		return errors.New(`no key "count"`)
	}
	return s.end()
}

// Object returns the object that an answer consists of, without the white space
// around it. As in [List.Split], only its braces and quotes are checked.
func Object(body []byte) ([]byte, error) {
	s := scanner{body: body}
	row, err := s.object()
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}

// A scanner reads JSON from left to right.
type scanner struct {
	body []byte
	at   int
}

// peek skips white space and returns the byte after it, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.body); s.at++ {
		switch c := s.body[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take skips white space and the byte that must come then.
func (s *scanner) take(c byte) error {
	switch got := s.peek(); {
	case s.at == len(s.body):
		return errTruncated
	case got != c:
		return fmt.Errorf("%s instead of %q", s.excerpt(), c)
	}
	s.at++
	return nil
}

// end skips white space, after which nothing may come.
func (s *scanner) end() error {
	if s.peek(); s.at < len(s.body) {
		return fmt.Errorf("%d bytes after the end of the JSON", len(s.body)-s.at)
	}
	return nil
}

// key reads a key and the colon after it.
func (s *scanner) key() (string, error) {
	if c := s.peek(); c != '"' {
		return "", s.take('"')
	}
	start := s.at
	if err := s.skipText(); err != nil {
		return "", err
	}
	key := string(s.body[start+1 : s.at-1])
	if strings.Contains(key, `\`) {
		if err := json.Unmarshal(s.body[start:s.at], &key); err != nil {
			return "", fmt.Errorf("read a key: %w", err)
		}
	}
	return key, s.take(':')
}

// count reads a number that counts something.
func (s *scanner) count() (int64, error) {
	s.peek()
	start := s.at
	n, err := strconv.ParseInt(string(s.number()), 10, 64)
	switch {
	case s.at == len(s.body):
		return 0, errTruncated
	case err != nil || n < 0:
		s.at = start
		return 0, fmt.Errorf("%s is no count", s.excerpt())
	}
	return n, nil
}

// rows reads an array of objects.
func (s *scanner) rows(l *List) error {
	if err := s.take('['); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.at++
		return nil
	}
	for {
		row, err := s.object()
		if err != nil {
			return err
		}
		l.Rows = append(l.Rows, row)
		switch s.peek() {
		case ',':
			s.at++
		default:
			return s.take(']')
		}
	}
}

// object skips white space and an object, and returns the object's bytes.
func (s *scanner) object() ([]byte, error) {
	if c := s.peek(); c != '{' {
		return nil, s.take('{')
	}
	start, depth := s.at, 0
	for s.at < len(s.body) {
		switch s.body[s.at] {
		case '"':
			if err := s.skipText(); err != nil {
				return nil, err
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return s.body[start:s.at], nil
		}
	}
	return nil, errTruncated
}

// skipText skips a text, which begins here.
func (s *scanner) skipText() error {
	for {
		n := bytes.IndexByte(s.body[s.at+1:], '"')
		if n < 0 {
			s.at = len(s.body)
			return errTruncated
		}
		s.at += 1 + n
		slashes := 0 // before the quote; an odd number escapes it. The text's first quote ends them.
		for s.body[s.at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			s.at++
			return nil
		}
	}
}

// excerptBytes is how much of what is wrong is shown.
const excerptBytes = 24

// excerpt quotes what comes next.
func (s *scanner) excerpt() string {
	return strconv.Quote(string(s.body[s.at:min(len(s.body), s.at+excerptBytes)]))
}
