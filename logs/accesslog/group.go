package accesslog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/logs/accessformat"
)

// A key is the values that make a row, with NUL between. A route that was given
// by a person, or that is none, has a mark before it, so that it is left as it
// is.
const (
	separator = 0
	given     = 1
	otherMark = 2
)

// maxKeyPart is how many bytes of a value that is no route count.
const maxKeyPart = 256

// otherKey is the key of [Other].
const otherKey = "\x02"

// appendKey appends the key of a record. A NUL in a value would look like the end
// of it, but in the last one.
func (t *Table) appendKey(dst []byte, r *accessformat.Record) []byte {
	if t.by.usual {
		return t.appendRoute(append(append(dst, r.Method...), separator), r)
	}
	extra, last := 0, len(t.by.fields)-1
	for i, f := range t.by.fields {
		if i > 0 {
			dst = append(dst, separator)
		}
		from := len(dst)
		switch f {
		case keyMethod:
			dst = appendPart(dst, r.Method)
		case keyRoute:
			dst = t.appendRoute(dst, r)
		case keyExtra:
			if extra < len(r.Extra) {
				dst = appendPart(dst, r.Extra[extra])
			}
			extra++
		default:
			dst = t.by.appendField(dst, f, r, &t.bots)
		}
		if i < last && bytes.IndexByte(dst[from:], separator) >= 0 {
			copy(dst[from:], bytes.ReplaceAll(dst[from:], []byte{separator}, []byte{'?'}))
		}
	}
	return dst
}

func appendPart(dst, value []byte) []byte { return append(dst, value[:min(len(value), maxKeyPart)]...) }

// appendRoute appends the route of a record, as far as its path alone determines it.
func (t *Table) appendRoute(dst []byte, r *accessformat.Record) []byte {
	if len(r.Path) == 0 && len(r.Method) == 0 {
		return append(append(dst, given), NoRequest...)
	}
	at := len(dst)
	dst, fixed := t.mapper.Append(dst, r.Method, r.Path)
	switch {
	case fixed:
		return slices.Insert(dst, at, given)
	case dst[at] <= otherMark:
		dst[at] = '?'
	}
	return dst
}

// appendField appends a value that is neither method nor route.
func (g *grouping) appendField(dst []byte, f keyField, r *accessformat.Record, bots *botCache) []byte {
	switch f {
	case keyPath:
		path := r.Path
		if i := bytes.IndexByte(path, '?'); i >= 0 {
			path = path[:i]
		}
		return appendPart(dst, path)
	case keyURI:
		return appendPart(dst, r.Path)
	case keyHost:
		return appendPart(dst, r.RemoteAddr)
	case keyForwarded:
		return appendPart(dst, r.ForwardedFor)
	case keyUser:
		return appendPart(dst, r.User)
	case keyReferer:
		return appendPart(dst, r.Referer)
	case keyUA:
		return appendPart(dst, r.UserAgent)
	case keyVHost:
		return appendPart(dst, r.VHost)
	case keyStatus:
		return strconv.AppendInt(dst, int64(r.Status), 10)
	case keyClass:
		return append(strconv.AppendInt(dst, int64(r.Status/100), 10), "xx"...)
	case keyProtocol:
		return appendPart(dst, r.Protocol)
	case keyBot:
		return strconv.AppendBool(dst, bots.is(r.UserAgent))
	case keySecond:
		return g.appendTime(dst, r, time.Second, "2006-01-02T15:04:05")
	case keyMinute:
		return g.appendTime(dst, r, time.Minute, "2006-01-02T15:04")
	case keyHour:
		return g.appendTime(dst, r, time.Hour, "2006-01-02T15")
	}
	return dst
}

// appendTime appends when a record was logged, in the location of the grouping.
func (g *grouping) appendTime(dst []byte, r *accessformat.Record, unit time.Duration, layout string) []byte {
	if !r.Stamped() {
		return dst
	}
	return time.Unix(0, r.Unix-r.Unix%int64(unit)).In(g.location).AppendFormat(dst, layout)
}

// routeOf returns where the route of a key is.
func (g *grouping) routeOf(key []byte) (from, to int) {
	for range g.route {
		from += bytes.IndexByte(key[from:], separator) + 1
	}
	if g.route == len(g.fields)-1 {
		return from, len(key)
	}
	return from, from + bytes.IndexByte(key[from:], separator)
}

// automatic reports whether the key has a route that was found automatically.
func (g *grouping) automatic(key []byte) (from, to int, ok bool) {
	if g.route < 0 || len(key) > 0 && key[0] == otherMark {
		return 0, 0, false
	}
	from, to = g.routeOf(key)
	return from, to, from < to && key[from] > otherMark
}

// other is how the row of keys beyond the bound is called.
func (g *grouping) other() string {
	if g.route >= 0 {
		return Other
	}
	return Others
}

// values returns the values of a key.
func (g *grouping) values(key string) []string {
	if key == otherKey {
		out := make([]string, len(g.fields))
		out[max(g.route, 0)] = g.other()
		return out
	}
	out := strings.SplitN(key, "\x00", len(g.fields))
	if g.route >= 0 {
		out[g.route] = strings.TrimPrefix(out[g.route], "\x01")
	}
	return out
}
