package tie

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/protocol"
)

// classes are the classes of statements, by their fingerprints.
type classes struct {
	shaper sqlshape.Shaper
	index  map[string]int
	list   []trace.Class
	locks  []bool         // of list: rows stay locked until the transaction ends
	served []bool         // of list: requests run them
	marked map[int][]byte // a statement of the class as it was prepared
	room   *budget
}

// of returns the class of a statement. Of one that is cut no value stays, and it has no id: the slow
// log has the whole of it. That is not so where what was cut off does not count.
func (c *classes) of(text []byte, cut bool) int {
	text = bytes.TrimRight(text, " \t\r\n;")
	if cut {
		switch quote := sqlshape.Unclosed(text); quote {
		case 0:
		case '*':
			text = append(bytes.Clone(text), "*/"...)
		default:
			text = append(bytes.Clone(text), quote)
		}
	}
	fingerprint := c.shaper.Fingerprint(sqlshape.InBackquotes(text))
	key, id := string(fingerprint), sqlshape.ID(fingerprint)
	if cut && !c.shaper.Rows() {
		key, id = key+"\x00", ""
	}
	if len(key) > shortestDigest {
		sum := sha256.Sum256([]byte(key))
		key = string(sum[:])
	}
	if i, known := c.index[key]; known {
		return i
	}
	if len(c.index) >= mostClasses || !c.room.take(classBytes+len(key)+min(len(fingerprint), mostFingerprint)) {
		return c.named("(of more classes than are kept)")
	}
	return c.add(key, trace.Class{
		ID: id, Fingerprint: string(logs.AppendSafe(nil, fingerprint, mostFingerprint)), Cut: cut,
	})
}

// named returns the class of that name, which has no id.
func (c *classes) named(name string) int {
	if i, known := c.index[name]; known {
		return i
	}
	return c.add(name, trace.Class{Fingerprint: name})
}

func (c *classes) add(key string, class trace.Class) int {
	i := len(c.list)
	c.index[key] = i
	c.list = append(c.list, class)
	c.locks, c.served = append(c.locks, locksRows(class.Fingerprint)), append(c.served, false)
	return i
}

// hold keeps the text of what a connection asks, where there is room.
func (c *conn) hold(room *budget, text []byte, cut bool) {
	c.text = c.text[:0]
	if cut || len(text) > mostSample {
		return
	}
	if n := len(text); n > cap(c.text) {
		if !room.take(n) {
			return
		}
		room.give(cap(c.text))
		c.text = make([]byte, 0, n)
	}
	c.text = append(c.text, text...)
}

// mark keeps a statement of a class as it was prepared, with its parameters.
func (c *classes) mark(class int, text []byte, cut bool) {
	if cut || len(text) > mostSample || c.list[class].ID == "" || c.marked[class] != nil || !c.room.take(len(text)) {
		return
	}
	if c.marked == nil {
		c.marked = map[int][]byte{}
	}
	c.marked[class] = bytes.Clone(text)
}

// filled returns a prepared statement of a class with the values of an execution; nil where they are not known.
func (c *classes) filled(class int, m protocol.Command) []byte {
	text := c.marked[class]
	if text == nil || m.Cut || m.Code != protocol.Execute {
		return nil
	}
	out, _ := protocol.Filled(text, m.Values)
	return out
}

// keep keeps a statement of a class that took longer than the one that is kept.
func (c *classes) keep(class int, took time.Duration, text []byte) {
	k := &c.list[class]
	if len(text) == 0 || k.ID == "" || k.Sample != "" && took <= k.Slowest || !c.room.take(len(text)) {
		return
	}
	c.room.give(len(k.Sample))
	k.Sample, k.Slowest = string(text), took
}

// readsLocked reports whether statements of a class read rows of tables and lock them: they begin a
// transaction where autocommit is off.
func (c *classes) readsLocked(class int) bool {
	return c.locks[class] && strings.Contains(c.list[class].Fingerprint, " from ")
}

// locksRows reports whether statements of a fingerprint lock rows until their transaction ends: all that
// write do, and reads that ask for it.
func locksRows(fingerprint string) bool {
	verb, _, _ := strings.Cut(fingerprint, " ")
	switch verb {
	case "insert", "update", "delete", "replace":
		return true
	case "select":
		return strings.Contains(fingerprint, " for update") || strings.Contains(fingerprint, " for share") ||
			strings.Contains(fingerprint, " lock in share mode")
	}
	return false
}
