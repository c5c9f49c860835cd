package slowlog

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kasoku/kasoku/logs/buckets"
)

// An Attribute is one "Name: value" of the heads of a class. What its first value
// looks like decides what it is: Yes or No, a number, or text.
type Attribute struct {
	Name    string
	Yes, No uint64
	Stats   *buckets.Stats // of numbers, else nil
	Values  []Count        // of text, the most frequent first
}

// QuerySize is the name of the attribute that no log has: the bytes of the
// statement.
const QuerySize = "Query_size"

// An attribute adds up the values of one.
type attribute struct {
	is      valueKind
	yes, no uint64
	stats   *buckets.Stats
	values  tally
}

func newAttribute(is valueKind) *attribute {
	if is == isNumber {
		return &attribute{is: is, stats: new(buckets.Stats)}
	}
	return &attribute{is: is}
}

// addValues adds the attributes of an event, of which the first is [QuerySize].
func (c *class) addValues(e *Event) {
	if len(c.attributes) == 0 {
		c.attributes = append(c.attributes, newAttribute(isNumber))
	}
	c.attributes[0].stats.Add(float64(len(e.Statement)))
	for i := range e.values {
		v := &e.values[i]
		if int(v.id) >= len(c.attributes) {
			c.attributes = append(c.attributes, make([]*attribute, int(v.id)+1-len(c.attributes))...)
		}
		a := c.attributes[v.id]
		if a == nil {
			a = newAttribute(v.is)
			c.attributes[v.id] = a
		}
		switch {
		case a.is == isNumber:
			if v.is == isNumber {
				a.stats.Add(v.number())
			}
		case v.is == isYes:
			a.yes++
		case v.is == isNo:
			a.no++
		case v.is == isText && a.is == isText:
			a.values.add(v.text(e))
		}
	}
}

// mergeAttributes adds the attributes of another class of the same table.
func (c *class) mergeAttributes(o *class) {
	for id, b := range o.attributes {
		if b == nil {
			continue
		}
		if id >= len(c.attributes) {
			c.attributes = append(c.attributes, make([]*attribute, id+1-len(c.attributes))...)
		}
		a := c.attributes[id]
		if a == nil {
			a = newAttribute(b.is)
			c.attributes[id] = a
		}
		a.merge(b)
	}
}

func (a *attribute) merge(b *attribute) {
	if a.stats != nil && b.stats != nil {
		a.stats.Merge(b.stats)
	}
	a.yes += b.yes
	a.no += b.no
	if a.is == isText {
		a.values.merge(&b.values)
	}
}

// attributesOf returns the attributes of a class by name.
func attributesOf(c *class, all []string) []Attribute {
	var out []Attribute
	for id, a := range c.attributes {
		if a == nil {
			continue
		}
		x := Attribute{Name: all[id], Yes: a.yes, No: a.no}
		switch a.is {
		case isNumber:
			x.Stats = a.stats.Clone()
		case isText:
			x.Values = a.values.counts()
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b Attribute) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// names numbers the attributes of a log. It is safe for concurrent use. A nil
// names wants no attribute.
type names struct {
	mu  sync.RWMutex
	ids map[string]uint16
	all []string
}

// maxNames bounds the attributes of a log.
const maxNames = 256

// id returns the number of an attribute and whether it is wanted.
func (n *names) id(name []byte) (uint16, bool) {
	if n == nil || len(name) > 64 || !isWordy(name) {
		return 0, false
	}
	n.mu.RLock()
	id, ok := n.ids[string(name)]
	n.mu.RUnlock()
	if ok {
		return id, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.ids[string(name)]; ok {
		return id, true
	}
	if len(n.all) >= maxNames {
		return 0, false
	}
	id = uint16(len(n.all))
	n.all = append(n.all, string(name))
	n.ids[string(name)] = id
	return id, true
}

// isWordy reports whether an attribute's name is a word, as those of servers
// are; the number of a connection is none that one wants statistics of.
func isWordy(name []byte) bool {
	if string(name) == "Thread_id" || string(name) == "Id" || string(name) == "Schema" {
		return false
	}
	for _, c := range name {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) > 0
}
