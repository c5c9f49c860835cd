package routes

import (
	"bytes"
	"strings"
)

// dispatchers are the names of query keys by whose value programs choose what they do, the surest
// first: index.php?action=edit, ?rest_route=/wp/v2/posts, ?option=com_content&view=article,
// /graphql?operationName=Posts. Of a query that has several the first of them chooses.
var dispatchers = [...]string{
	"rest_route", "operationName", "wc-ajax", "action", "act", "method", "operation", "op", "cmd", "command",
	"task", "func", "function", "do", "query_id", "queryId", "r", "route", "controller", "service", "module", "mod",
	"option", "ajax", "event", "view", "page",
}

// rankOf returns the place of a name among the dispatchers, from 1 on; 0 when it is none.
func rankOf(name []byte) int {
	if len(name) > len("operationName") {
		return 0
	}
	for i, d := range dispatchers {
		if string(name) == d {
			return i + 1
		}
	}
	return 0
}

// beginsDispatcher are the letters that names of dispatchers begin with: most keys have another.
var beginsDispatcher = func() (t [256]bool) {
	for _, d := range dispatchers {
		t[d[0]] = true
	}
	return t
}()

// Bounds of what is looked at of a query string for a dispatcher.
const (
	longestValue = 64 // bytes
	mostPairs    = 32
)

// AppendChoice appends what a query string, without its question mark, says that a program does: the
// surest dispatcher that has the name of something as its value, "action=edit". In a value that is a
// path ids are collapsed, and names of users and organisations. It reports false, and appends
// nothing, where there is none.
func AppendChoice(dst, query []byte) ([]byte, bool) {
	start, best := len(dst), len(dispatchers)+1
	for n := 0; n < mostPairs; n++ {
		pair, rest := nextPair(query)
		if pair == nil {
			break
		}
		query = rest
		if len(pair) == 0 || !beginsDispatcher[pair[0]] {
			continue
		}
		key, value, _ := bytes.Cut(pair, []byte("="))
		rank := rankOf(key)
		if rank == 0 || rank >= best {
			continue
		}
		end := len(dst)
		dst = append(append(dst, key...), '=')
		out, ok := appendChosen(dst, value)
		if !ok || namesThings(key) && !hasProgramWord(out[end+len(key)+1:]) {
			dst = dst[:end]
			continue
		}
		dst = append(dst[:start], out[end:]...)
		best = rank
	}
	return dst, best <= len(dispatchers)
}

// CutChoice cuts a route before what [Mapper.Append] adds of its query string; key=value is empty
// where it has none.
func CutChoice(route string) (path, choice string) {
	path, choice, _ = strings.Cut(route, "?")
	if key, _, ok := strings.Cut(choice, "="); !ok || rankOf([]byte(key)) == 0 {
		return route, ""
	}
	return path, choice
}

// AppendDispatched appends the names of the keys as [AppendKeys] does, with what the query string
// says that the program does, as [AppendChoice] has it: "action=edit&id". It reports false, and appends
// nothing, where there is no such thing; names are those of [AppendKeys].
func AppendDispatched(dst, names, query []byte) ([]byte, bool) {
	start := len(dst)
	dst, ok := AppendChoice(dst, query)
	if !ok {
		return dst, false
	}
	var room [longestKey + longestValue]byte
	choice := append(room[:0], dst[start:]...)
	key, _, _ := bytes.Cut(choice, []byte("="))
	at := placeOf(names, key)
	if at < 0 {
		return dst[:start], false
	}
	dst = append(append(dst[:start], names[:at]...), choice...)
	return append(dst, names[at+len(key):]...), true
}

// placeOf returns where a name stands in a list with & between, -1 where it does not.
func placeOf(names, key []byte) int {
	for at := 0; at < len(names); {
		end := bytes.IndexByte(names[at:], '&')
		if end < 0 {
			end = len(names) - at
		}
		if string(names[at:at+end]) == string(key) {
			return at
		}
		at += end + 1
	}
	return -1
}

// appendChosen appends a value that is the name of something, or a path of such.
func appendChosen(dst, value []byte) ([]byte, bool) {
	if len(value) == 0 || len(value) > longestValue {
		return dst, false
	}
	var room [longestValue]byte
	text := room[:0]
	letters := 0
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '%' && i+2 < len(value) {
			b, ok := hexByte(value[i+1], value[i+2])
			if !ok {
				return dst, false
			}
			c, i = b, i+2
		}
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		case '0' <= c && c <= '9', c == '_', c == '-', c == '.', c == '/', c == ':':
		default:
			return dst, false
		}
		text = append(text, c)
	}
	if letters == 0 || isID(text) || isHostName(text) {
		return dst, false
	}
	theirs := false // the next part is the name of someone
	for first := true; len(text) > 0 || first; first = false {
		part, rest, more := bytes.Cut(text, []byte("/"))
		if isID(part) || theirs && len(part) > 0 && !hasProgramWord(part) {
			part = []byte(":id")
		}
		theirs = isPeople(part)
		dst = append(dst, part...)
		if !more {
			break
		}
		dst, text = append(dst, '/'), rest
	}
	return dst, true
}
