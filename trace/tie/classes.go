package tie

import (
	"bytes"
	"crypto/sha256"
	"strings"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/trace"
)

// classes are the classes of statements, by their fingerprints.
type classes struct {
	shaper sqlshape.Shaper
	index  map[string]int
	list   []trace.Class
	locks  []bool // of list: rows stay locked until the transaction ends
	served []bool // of list: requests run them
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
