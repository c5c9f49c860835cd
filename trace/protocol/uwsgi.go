package protocol

import (
	"encoding/binary"

	"github.com/kasoku/kasoku/trace"
)

// UWSGI reads the request of one connection of uwsgi's protocol, which has one alone. The zero value is at its
// beginning. https://uwsgi-docs.readthedocs.io/en/latest/Protocol.html
type UWSGI struct {
	vars []byte // with the head before them
	done bool   // what comes is its body
}

// uwsgiHead is the length of the head: modifier 1, the size of the variables in two bytes, modifier 2.
const uwsgiHead = 4

// beginsUWSGI reports whether bytes are a head of a request, whose modifiers are 0.
func beginsUWSGI(b []byte) bool {
	return len(b) >= uwsgiHead && b[0] == 0 && b[3] == 0 && (b[1] != 0 || b[2] != 0)
}

// Held returns how many bytes are kept of what came.
func (u *UWSGI) Held() int { return cap(u.vars) }

// Forget keeps nothing of what came: a request of which not all has come is not read.
func (u *UWSGI) Forget() { *u = UWSGI{done: true} }

// Feed takes the bytes of one read, of which there were total in all, and calls each with the request when its
// variables are whole with it, or as far as they are known.
func (u *UWSGI) Feed(b []byte, total int, each func(trace.Request)) {
	if u.done {
		return
	}
	u.vars = append(u.vars, b[:min(len(b), mostHead-len(u.vars))]...)
	if len(u.vars) < uwsgiHead {
		return
	}
	end := uwsgiHead + int(binary.LittleEndian.Uint16(u.vars[1:]))
	cut := total > len(b) || len(u.vars) == mostHead
	if len(u.vars) < end && !cut {
		return
	}
	if r, ok := readVars(u.vars[uwsgiHead:min(end, len(u.vars))]); ok {
		each(r)
	}
	u.Forget()
}

// readVars reads the variables that say what is asked: each is a name and a value, with its length in two bytes
// before it.
func readVars(b []byte) (r trace.Request, ok bool) {
	var script []byte
	take := func() (text []byte, whole bool) {
		if len(b) < 2 {
			return nil, false
		}
		n := int(binary.LittleEndian.Uint16(b))
		if n > len(b)-2 {
			return nil, false
		}
		text, b = b[2:2+n], b[2+n:]
		return text, true
	}
	for {
		name, whole := take()
		if !whole {
			break
		}
		value, whole := take()
		if !whole {
			break
		}
		variable(&r, &script, name, value)
	}
	return asked(r, script)
}
