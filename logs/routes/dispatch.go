package routes

import "bytes"

// isDispatcher reports whether programs choose by the value of a query key of that name what
// they do: index.php?action=edit, ?rest_route=/wp/v2/posts, ?r=site/index, /graphql?operationName=Posts.
func isDispatcher(name []byte) bool {
	switch string(name) {
	case "action", "act", "do", "op", "cmd", "command", "task", "func", "function", "method", "event",
		"controller", "module", "mod", "view", "option", "page", "route", "rest_route", "r", "service",
		"operationName", "operation", "query_id", "queryId", "wc-ajax", "ajax":
		return true
	}
	return false
}

// longestValue of a dispatcher, in bytes.
const longestValue = 64

// AppendDispatched appends the names of the keys as [AppendKeys] does, the first key by which a
// program chooses what it does with its value: "action=edit&id". Ids in a value that is a path are
// collapsed. It reports false, and appends nothing, where no such key has the name of something
// as its value; names are those of [AppendKeys].
func AppendDispatched(dst, names, query []byte) ([]byte, bool) {
	for pair, rest := nextPair(query); pair != nil; pair, rest = nextPair(rest) {
		key, value, _ := bytes.Cut(pair, []byte("="))
		if !isDispatcher(key) {
			continue
		}
		at := placeOf(names, key)
		if at < 0 {
			return dst, false
		}
		start := len(dst)
		dst = append(append(dst, names[:at+len(key)]...), '=')
		out, ok := appendChoice(dst, value)
		if !ok {
			return dst[:start], false
		}
		return append(out, names[at+len(key):]...), true
	}
	return dst, false
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

// appendChoice appends a value that is the name of something, or a path of such.
func appendChoice(dst, value []byte) ([]byte, bool) {
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
	if letters == 0 || isID(text) {
		return dst, false
	}
	for first := true; len(text) > 0 || first; first = false {
		part, rest, more := bytes.Cut(text, []byte("/"))
		if isID(part) {
			part = []byte(":id")
		}
		dst = append(dst, part...)
		if !more {
			break
		}
		dst, text = append(dst, '/'), rest
	}
	return dst, true
}
