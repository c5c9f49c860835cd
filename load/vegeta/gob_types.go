package vegeta

import "fmt"

// Parts of a wireType, the value that defines a type: which field holds the
// definition, and what the definition holds after the name and id that all have.
const (
	wireSlice  = 1 // Elem
	wireStruct = 2 // Field, a list of names and ids
	wireMap    = 3 // Key, Elem
	wireSelf   = 4 // of time.Time, which has GobEncode
)

// define notes the definition of a type. It returns false when the definition
// is not for this decoder.
func (d *gobDecoder) define(id int64, c *gobCursor) bool {
	if _, twice := d.types[id]; twice || id < gobFirstUser || id > 1<<30 {
		return false
	}
	var t gobType
	switch c.uint() - 1 {
	case wireSlice:
		t.kind = gobSlice
		c.common()
		t.elem = c.field(1)
	case wireStruct:
		t.kind = gobStruct
		c.common()
		if c.uint() != 1 {
			return false
		}
		for n := c.uint(); n > 0 && !c.bad; n-- {
			name, typ := c.nameAndID()
			t.names, t.fields = append(t.names, string(name)), append(t.fields, typ)
		}
	case wireMap:
		t.kind = gobMap
		c.common()
		t.key, t.elem = c.field(1), c.field(1)
	case wireSelf:
		t.kind = gobSelf
		c.common()
	default:
		return false
	}
	c.end()
	c.end()
	d.types[id] = t
	return c.atEnd()
}

// common reads the name and id of a type.
func (c *gobCursor) common() {
	c.want(1)
	c.nameAndID()
}

// nameAndID reads a struct of a text and a number to its end. The text may be
// missing.
func (c *gobCursor) nameAndID() (name []byte, id int64) {
	delta := c.uint()
	if delta == 1 {
		name = c.bytes()
		delta += c.uint()
	}
	if delta != 2 {
		c.fail()
	}
	id = c.int()
	c.end()
	return name, id
}

// field reads a number in the field that comes delta after the last.
func (c *gobCursor) field(delta uint64) int64 {
	c.want(delta)
	return c.int()
}

// end reads the end of a struct.
func (c *gobCursor) end() { c.want(0) }

func (c *gobCursor) want(n uint64) {
	if c.uint() != n {
		c.fail()
	}
}

// compile finds out which field of the type is which of a Result.
func (d *gobDecoder) compile(id int64) ([]gobField, bool) {
	t := d.types[id]
	if t.kind != gobStruct || len(t.fields) == 0 {
		return nil, false
	}
	plan := make([]gobField, len(t.fields))
	seen := map[string]bool{}
	for i, name := range t.names {
		f, ok := d.fieldOf(name, t.fields[i])
		if !ok || seen[name] {
			return nil, false
		}
		seen[name] = true
		plan[i] = f
	}
	return plan, true
}

// fieldOf returns the field of that name and type.
func (d *gobDecoder) fieldOf(name string, id int64) (gobField, bool) {
	switch name {
	case "Attack":
		return gobAttack, id == gobString
	case "Seq":
		return gobSeq, id == gobUint
	case "Code":
		return gobCode, id == gobUint
	case "Timestamp":
		return gobTimestamp, d.types[id].kind == gobSelf
	case "Latency":
		return gobLatency, id == gobInt
	case "BytesOut":
		return gobBytesOut, id == gobUint
	case "BytesIn":
		return gobBytesIn, id == gobUint
	case "Error":
		return gobError, id == gobString
	case "Body":
		return gobBody, id == gobBytes
	case "Method":
		return gobMethod, id == gobString
	case "URL":
		return gobURL, id == gobString
	case "Headers":
		m := d.types[id]
		list := d.types[m.elem]
		return gobHeaders, m.kind == gobMap && m.key == gobString && list.kind == gobSlice && list.elem == gobString
	}
	return 0, false
}

// A gobCursor reads the parts of a message. After a part that is not there, or
// not whole, it is bad and at the end.
type gobCursor struct {
	b   []byte
	i   int // b[i:] is left
	bad bool
	err error // nothing must read this message
}

func (c *gobCursor) fail() { c.i, c.bad = len(c.b), true }

// atEnd reports whether all was read, and nothing was amiss.
func (c *gobCursor) atEnd() bool { return !c.bad && c.i == len(c.b) }

// uint reads an unsigned number: one byte below 128, or the negated count of
// the bytes that follow, most significant first.
func (c *gobCursor) uint() uint64 {
	if i := c.i; i < len(c.b) && c.b[i] <= 0x7f {
		c.i++
		return uint64(c.b[i])
	}
	return c.longUint()
}

func (c *gobCursor) longUint() uint64 {
	b := c.b[c.i:]
	if len(b) == 0 {
		c.fail()
		return 0
	}
	n := -int(int8(b[0]))
	if n > 8 || n >= len(b) {
		c.fail()
		return 0
	}
	c.i += 1 + n
	return bigEndian(b[1 : 1+n])
}

// int reads a signed number: the sign is the lowest bit.
func (c *gobCursor) int() int64 {
	u := c.uint()
	if u&1 != 0 {
		return ^int64(u >> 1)
	}
	return int64(u >> 1)
}

// bytes reads a length and as many bytes.
func (c *gobCursor) bytes() []byte {
	n := c.uint()
	if n > uint64(len(c.b)-c.i) {
		c.fail()
		return nil
	}
	from := c.i
	c.i += int(n)
	return c.b[from:c.i:c.i]
}

// headers reads a map of lists of texts.
func (c *gobCursor) headers(h *headers) bool {
	h.reset()
	h.present = true
	n := c.uint()
	if left := uint64(len(c.b) - c.i); n > left/2 {
		// Package encoding/gob would make room for all of them before it looks.
		c.err = fmt.Errorf("bad headers: %d of them in %d bytes", n, left)
		return false
	}
	for ; n > 0 && !c.bad; n-- {
		h.begin(c.bytes())
		m := c.uint()
		h.fields[len(h.fields)-1].null = m == 0
		for ; m > 0 && !c.bad; m-- {
			h.value(c.bytes())
		}
	}
	return !c.bad && h.sort()
}
