package graphite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/kasoku/kasoku/wire/whisper"
)

// appendQuery appends a request for what the cache holds of a metric, with its
// length before it. It is written as Python's pickle protocol 2 does: go-carbon takes
// it by its bytes and nothing else.
//
//	{'type': 'cache-query', 'metric': METRIC}
func appendQuery(dst []byte, metric string) []byte {
	return appendRequest(dst, "type", "cache-query", "metric", metric)
}

// ParseAnswer reads the answer to a cache query, without its length:
//
//	{'datapoints': [(TIME, VALUE), …]}
//
// It knows the operations of pickle that make numbers, texts, lists, pairs and
// dictionaries, and refuses all others: nothing is called or made by name. Points
// come in no order, their times cut to seconds.
//
// Source: Python's pickletools, protocols 0 to 2.
func ParseAnswer(b []byte) ([]whisper.Point, error) {
	d, err := parseDict(b)
	if err != nil {
		return nil, err
	}
	if text, ok := d["error"].(string); ok {
		return nil, fmt.Errorf("it answers %.100q", text)
	}
	l, ok := d["datapoints"].(*list)
	if !ok {
		return nil, errors.New("answer in pickle: no datapoints")
	}
	out := make([]whisper.Point, 0, len(l.items))
	for _, item := range l.items {
		p, ok := item.(pair)
		at, ok1 := p[0].(float64)
		v, ok2 := p[1].(float64)
		if !ok || !ok1 || !ok2 || !(at >= 0 && at < math.MaxUint32) {
			return nil, errors.New("answer in pickle: a datapoint that is no time and number")
		}
		out = append(out, whisper.Point{Time: int64(at), Value: v})
	}
	return out, nil
}

// parseDict reads an answer, which is a dictionary.
func parseDict(b []byte) (dict, error) {
	m := machine{rest: b}
	top, err := m.run()
	if err != nil {
		return nil, fmt.Errorf("answer in pickle: %w", err)
	}
	d, ok := top.(dict)
	if !ok {
		return nil, errors.New("answer in pickle: no dictionary")
	}
	return d, nil
}

// What the machine makes: numbers are float64, texts string, None nil.
type (
	dict map[string]any
	list struct{ items []any }
	pair [2]any
	mark struct{}
)

// A machine runs pickle's operations on a stack. Every operation takes at least a
// byte of what came and makes no more than a word of it, but for few containers, so
// the answer's length bounds time and memory.
type machine struct {
	rest  []byte
	stack []any
	memo  map[uint32]any
	made  int // dictionaries and lists
}

// mostContainers is how many dictionaries and lists an answer may have; one of carbon
// has two.
const mostContainers = 16

var (
	errShort = errors.New("it ends too early")
	errStack = errors.New("an operation without its operands")
)

func (m *machine) run() (any, error) {
	for {
		op, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			return m.pop()
		}
		if err := m.do(op[0]); err != nil {
			return nil, err
		}
	}
}

// do runs one operation.
func (m *machine) do(op byte) error {
	switch op {
	case 0x80: // PROTO
		v, err := m.take(1)
		if err == nil && v[0] > 2 {
			err = fmt.Errorf("protocol %d", v[0])
		}
		return err
	case '}', ']':
		if m.made++; m.made > mostContainers {
			return errors.New("too many lists")
		}
		if op == '}' {
			m.push(dict{})
		} else {
			m.push(&list{})
		}
	case '(':
		m.push(mark{})
	case 'N':
		m.push(nil)
	case 0x88, 0x89: // True, False
		m.push(float64(1 - (op & 1)))
	case 'q', 'r', 'h', 'j':
		return m.remember(op)
	case 'X', 'T', 'U':
		return m.text(op)
	case 'K', 'M', 'J', 'G', 0x8a:
		return m.number(op)
	case 'a', 'e':
		return m.extend(op == 'e')
	case 's', 'u':
		return m.setItems(op == 'u')
	case 0x86, 't': // of two; of what is above the mark
		items, err := m.last(2, op == 't')
		if err == nil && len(items) != 2 {
			err = fmt.Errorf("a tuple of %d", len(items))
		}
		if err != nil {
			return err
		}
		m.push(pair{items[0], items[1]})
	default:
		return fmt.Errorf("operation %#02x", op)
	}
	return nil
}

func (m *machine) take(n uint32) ([]byte, error) {
	if uint64(n) > uint64(len(m.rest)) {
		return nil, errShort
	}
	b := m.rest[:n]
	m.rest = m.rest[n:]
	return b, nil
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

func (m *machine) pop() (any, error) {
	items, err := m.last(1, false)
	if err != nil {
		return nil, err
	}
	return items[0], nil
}

// last takes n values, or those above the last mark and the mark with them. They
// are good until the next push.
func (m *machine) last(n int, marked bool) ([]any, error) {
	at, gone := len(m.stack)-n, len(m.stack)-n
	if marked {
		for at = len(m.stack); at > 0; at-- {
			if _, ok := m.stack[at-1].(mark); ok {
				break
			}
		}
		gone = at - 1
	}
	if gone < 0 {
		return nil, errStack
	}
	items := m.stack[at:]
	m.stack = m.stack[:gone]
	return items, nil
}

// remember puts the top into the memo (q, r), or pushes what is in it (h, j).
func (m *machine) remember(op byte) error {
	size := uint32(1)
	if op == 'r' || op == 'j' {
		size = 4
	}
	b, err := m.take(size)
	if err != nil {
		return err
	}
	i := uint32(b[0])
	if size == 4 {
		i = binary.LittleEndian.Uint32(b)
	}
	if op == 'h' || op == 'j' {
		v, ok := m.memo[i]
		if !ok {
			return errStack
		}
		m.push(v)
		return nil
	}
	if len(m.stack) == 0 {
		return errStack
	}
	if m.memo == nil {
		m.memo = map[uint32]any{}
	}
	m.memo[i] = m.stack[len(m.stack)-1]
	return nil
}

func (m *machine) text(op byte) error {
	size := uint32(4)
	if op == 'U' {
		size = 1
	}
	b, err := m.take(size)
	if err != nil {
		return err
	}
	n := uint32(b[0])
	if size == 4 {
		n = binary.LittleEndian.Uint32(b)
	}
	if b, err = m.take(n); err != nil {
		return err
	}
	m.push(string(b))
	return nil
}

func (m *machine) number(op byte) error {
	size := map[byte]uint32{'K': 1, 'M': 2, 'J': 4, 'G': 8, 0x8a: 1}[op]
	b, err := m.take(size)
	if err != nil {
		return err
	}
	switch op {
	case 'K':
		m.push(float64(b[0]))
	case 'M':
		m.push(float64(binary.LittleEndian.Uint16(b)))
	case 'J':
		m.push(float64(int32(binary.LittleEndian.Uint32(b))))
	case 'G':
		m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	default: // LONG1: a length, and so many bytes in two's complement
		n := uint32(b[0])
		if n > 8 {
			return fmt.Errorf("a number of %d bytes", n)
		}
		if b, err = m.take(n); err != nil {
			return err
		}
		var v uint64
		if n > 0 && b[n-1]&0x80 != 0 {
			v = math.MaxUint64
		}
		for i := range b {
			v = v<<8 | uint64(b[int(n)-1-i])
		}
		m.push(float64(int64(v)))
	}
	return nil
}

func (m *machine) extend(marked bool) error {
	items, err := m.last(1, marked)
	if err != nil {
		return err
	}
	if len(m.stack) == 0 {
		return errStack
	}
	l, ok := m.stack[len(m.stack)-1].(*list)
	if !ok {
		return errStack
	}
	l.items = append(l.items, items...)
	return nil
}

func (m *machine) setItems(marked bool) error {
	items, err := m.last(2, marked)
	if err != nil {
		return err
	}
	if len(m.stack) == 0 || len(items)%2 != 0 {
		return errStack
	}
	d, ok := m.stack[len(m.stack)-1].(dict)
	if !ok {
		return errStack
	}
	for i := 0; i < len(items); i += 2 {
		key, ok := items[i].(string)
		if !ok {
			return errors.New("a key that is no text")
		}
		d[key] = items[i+1]
	}
	return nil
}
