package slowlog

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// Bounds of what is kept of transactions.
const (
	maxTransactions = 1000 // classes
	maxShape        = 32   // statements of one
	maxRepeat       = 8    // statements that repeat as a group
)

// A role is what a statement means to transactions.
type role uint8

const (
	inside   role = iota // of a transaction, when one is open
	writes               // as well, and can change something
	locks                // as well, and reads with locks
	begins               // BEGIN, START TRANSACTION
	commits              // COMMIT
	rolls                // ROLLBACK
	switches             // SET autocommit
	implicit             // a statement that commits by itself
	outside              // SET, SHOW, USE: no part of one
)

// roleOf returns the role of a class.
func roleOf(q *kasoku.Query, fingerprint []byte) role {
	switch q.Verb {
	case "SELECT":
		for _, s := range [...]string{"for update", "lock in share mode", "for share"} {
			if bytes.Contains(fingerprint, []byte(s)) {
				return locks
			}
		}
		return inside
	case "BEGIN":
		return begins
	case "START":
		if bytes.HasPrefix(fingerprint, []byte("start transaction")) {
			return begins
		}
	case "COMMIT":
		return commits
	case "ROLLBACK":
		if !bytes.Contains(fingerprint, []byte(" to ")) {
			return rolls
		}
	case "SET":
		if bytes.Contains(fingerprint, []byte("autocommit")) {
			return switches
		}
	case "CREATE", "DROP", "ALTER", "TRUNCATE", "RENAME", "LOCK", "UNLOCK", "GRANT", "REVOKE", "OPTIMIZE", "ANALYZE":
		return implicit
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL", "EXECUTE":
		return writes
	}
	return outside
}

// An open is the transaction that is open on a connection. Memory is reused from
// one to the next.
type open struct {
	on         bool
	manual     bool // autocommit is off: the next statement begins one
	start      time.Time
	resolution time.Duration
	shape      []*class
	cut        bool // the shape is longer than the bound
	statements uint64
	busy       time.Duration // sum of the times of its statements
	readOnly   bool
}

func (o *open) begin(e *Event) {
	o.on, o.start, o.resolution = true, e.Start, e.Resolution
	o.shape, o.cut, o.statements, o.busy, o.readOnly = o.shape[:0], false, 0, 0, true
}

// add adds a statement. Statements that repeat, one or a group, count as one.
func (o *open) add(e *Event, c *class) {
	o.statements++
	o.busy += e.QueryTime
	o.readOnly = o.readOnly && c.role == inside
	n := len(o.shape)
	if n > 0 && o.shape[n-1] == c {
		return
	}
	if n >= maxShape {
		o.cut = true
		return
	}
	o.shape = append(o.shape, c)
	n++
	for k := 2; k <= maxRepeat && 2*k <= n; k++ {
		if slices.Equal(o.shape[n-k:], o.shape[n-2*k:n-k]) {
			o.shape = o.shape[:n-k]
			return
		}
	}
}

// length returns how long the transaction took up to the end of the event. Where
// the log has whole seconds it is what is sure: at least as long as its statements took,
// and more than the seconds between less one, for a second may begin in between.
func (o *open) length(e *Event) time.Duration {
	d := e.Start.Add(e.QueryTime).Sub(o.start)
	if o.resolution == time.Second {
		d = max(e.Start.Sub(o.start)-time.Second, o.busy)
	}
	return max(d, 0)
}

// transactions adds up transactions by their shape.
type transactions struct {
	classes map[string]*transaction // by the places of the classes, and the tag
	key     []byte
	folded  uint64
}

type transaction struct {
	shape      []*class
	cut        bool
	tag        string
	count      uint64
	rolledBack uint64
	readOnly   bool
	statements uint64
	total, max time.Duration
}

// follow follows a connection's transactions by one statement.
func (t *transactions) follow(o *open, e *Event, c *class) {
	switch c.role {
	case begins:
		t.finish(o, e, "", false)
		o.begin(e)
		o.busy = e.QueryTime
		return
	case commits, rolls:
		o.busy += e.QueryTime
		t.finish(o, e, c.query.Tag, c.role == rolls)
		return
	case implicit:
		t.finish(o, e, "", false)
		return
	case switches:
		off := switchedOff(e.Statement)
		if o.manual = off; !off {
			t.finish(o, e, "", false)
		}
		return
	case outside:
		return
	}
	if !o.on {
		if !o.manual {
			return
		}
		o.begin(e)
	}
	o.add(e, c)
}

// switchedOff reports whether a SET turns autocommit off.
func switchedOff(sql []byte) bool {
	s := bytes.ToLower(sql[:min(len(sql), 200)])
	_, value, _ := bytes.Cut(s, []byte("autocommit"))
	value = bytes.TrimLeft(value, " \t\n`:=")
	return bytes.HasPrefix(value, []byte("0")) || bytes.HasPrefix(value, []byte("off")) ||
		bytes.HasPrefix(value, []byte("false"))
}

// finish ends the open transaction, if there is one, with the event.
func (t *transactions) finish(o *open, e *Event, tag string, rolledBack bool) {
	if !o.on {
		return
	}
	o.on = false
	x := t.class(o, tag)
	if x == nil {
		t.folded++
		return
	}
	d := o.length(e)
	x.count++
	if rolledBack {
		x.rolledBack++
	}
	x.readOnly = x.readOnly && o.readOnly
	x.statements += o.statements
	x.total += d
	x.max = max(x.max, d)
}

// class returns the class of a transaction, nil when there are too many.
func (t *transactions) class(o *open, tag string) *transaction {
	t.key = t.key[:0]
	for _, c := range o.shape {
		t.key = append(append(t.key, c.query.ID...), ' ')
	}
	if o.cut {
		t.key = append(t.key, '+')
	}
	t.key = append(append(t.key, 0), tag...)
	x := t.classes[string(t.key)]
	if x == nil && len(t.classes) < maxTransactions {
		x = &transaction{shape: slices.Clone(o.shape), cut: o.cut, tag: tag, readOnly: true}
		t.classes[string(t.key)] = x
	}
	return x
}

// list returns the classes, the one that took the most time first.
func (t *transactions) list() []kasoku.Transaction {
	out := make([]kasoku.Transaction, 0, len(t.classes))
	for _, x := range t.classes {
		y := kasoku.Transaction{
			Tag: x.tag, Count: x.count, RolledBack: x.rolledBack, ReadOnly: x.readOnly,
			Statements: x.statements, Total: x.total, Max: x.max,
		}
		var verbs []string
		for _, c := range x.shape {
			y.Shape = append(y.Shape, c.query.ID)
			verbs = append(verbs, c.query.Verb)
		}
		if x.cut {
			verbs = append(verbs, "…")
		}
		y.Verbs = strings.Join(verbs, " ")
		out = append(out, y)
	}
	slices.SortFunc(out, func(a, b kasoku.Transaction) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count),
			slices.Compare(a.Shape, b.Shape), cmp.Compare(a.Tag, b.Tag))
	})
	return out
}
