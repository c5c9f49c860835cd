package slowlog

import (
	"bytes"
	"sync"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// own marks the statements of kasoku itself, which are no part of the load.
const own = "/* kasoku */"

// unnamed is the shape of a statement that the registry does not hold, others
// that of one for which it has no room.
const (
	unnamed = -1
	others  = 0
)

// A registry numbers the shapes of statements: fingerprints, with tags where
// those split. It is safe for concurrent use.
//
// Shapes are added in the order of the log and only there ([Table.shapeOf]), so
// that what is kept when there are too many does not depend on timing.
type registry struct {
	mu   sync.RWMutex
	ids  map[string]int32 // by fingerprint, NUL, tag
	full bool             // no more shapes are added
}

// find returns the number of a shape.
func (r *registry) find(name []byte) int32 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if id, ok := r.ids[string(name)]; ok {
		return id
	}
	if r.full {
		return others
	}
	return unnamed
}

// add adds a shape with that number, the last one that there is room for or not.
func (r *registry) add(name []byte, id int32, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[string(name)] = id
	r.full = full
}

// maxKeys bounds the keys that a namer remembers: 1 MB. There are more keys than
// shapes, because a shape can be written in many ways.
const maxKeys = 1 << 15

// A namer finds out which shape each statement has. It is not safe for concurrent
// use; several namers may share a registry.
type namer struct {
	split  Split
	trim   bool // Options.Trailers
	reg    *registry
	shaper sqlshape.Shaper
	known  map[uint64]int32 // shapes by the key of their sketch
	near   [nearKeys]named  // the last of them, by the low bits of the key
	arena  []byte           // names and tags of the batch that is worked on
}

// nearKeys is how many keys are found without a map: 64 KB.
const nearKeys = 1 << 12

type named struct {
	key  uint64
	next int32 // one more than the shape; 0 is none
}

func newNamer(o Options, r *registry) *namer {
	return &namer{split: o.Split, trim: o.Trailers, reg: r, known: map[uint64]int32{}}
}

// name sets what an event says about its statement's shape. What it points to is
// valid until the arena is emptied.
func (n *namer) name(e *Event) {
	from := len(n.arena)
	if arena, names := sqlshape.Backquoted(n.arena, e.Statement); names {
		n.arena, e.Statement = arena, arena[from:len(arena):len(arena)]
	}
	sql := e.Statement
	if n.trim {
		sql = withoutTrailer(sql)
	}
	k := n.shaper.Sketch(sql)
	e.identity, e.single = k.Text, !k.Rows
	var tag []byte
	if k.Commented || len(sql) < len(e.Statement) {
		e.own = bytes.Contains(e.Statement, []byte(own))
		tag = n.comments(e, &k)
	}
	near := &n.near[k.Key&(nearKeys-1)]
	if near.key == k.Key && near.next > 0 {
		e.shape = near.next - 1
		return
	}
	id, ok := n.known[k.Key]
	if ok {
		e.shape = id
	} else {
		n.lookUp(e, sql, k.Key, tag)
	}
	*near = named{k.Key, e.shape + 1}
}

// withoutTrailer returns a statement without the comment at its end, if that holds
// keys and values.
func withoutTrailer(sql []byte) []byte {
	body := bytes.TrimRight(sql, " \t\r\n;")
	if !bytes.HasSuffix(body, []byte("*/")) {
		return sql
	}
	from := bytes.LastIndex(body, []byte("/*"))
	if from <= 0 || body[from+2] == '!' || body[from+2] == '+' || !bytes.ContainsAny(body[from:], "=:") {
		return sql
	}
	return bytes.TrimRight(body[:from], " \t\r\n")
}

// comments reads the comments of a statement. It returns the tag that splits its
// class, which becomes a part of the key.
func (n *namer) comments(e *Event, k *sqlshape.Sketch) (tag []byte) {
	from := len(n.arena)
	n.arena = sqlshape.AppendTag(n.arena, e.Statement)
	e.tags = n.arena[from:len(n.arena):len(n.arena)]
	switch n.split {
	case SplitEnds:
		tag = sqlshape.Tag(e.Statement)
	case SplitAll:
		tag = e.tags
	}
	if len(tag) > 0 {
		k.Key = sqlshape.WithTag(k.Key, tag)
	}
	return tag
}

// lookUp finds a shape by its name.
func (n *namer) lookUp(e *Event, sql []byte, key uint64, tag []byte) {
	fingerprint := n.shaper.Fingerprint(sql)
	from := len(n.arena)
	n.arena = append(append(append(n.arena, fingerprint...), 0), tag...)
	e.name, e.print = n.arena[from:len(n.arena):len(n.arena)], len(fingerprint)
	e.shape = n.reg.find(e.name)
	if e.shape == unnamed {
		return
	}
	if len(n.known) >= maxKeys {
		clear(n.known)
	}
	n.known[key] = e.shape
}
