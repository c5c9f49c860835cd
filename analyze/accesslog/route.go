package accesslog

import "bytes"

// maxRoute is the longest route kept, in bytes; what is longer is cut.
const maxRoute = 300

// appendRoute appends the route of a path: without scheme and host, query
// string and fragment, and with each segment that is an id as :id. An
// extension behind an id stays, so that /7.png becomes /:id.png.
func appendRoute(dst, path []byte) []byte {
	path = cutTarget(path)
	start := len(dst)
	for len(path) > 0 && len(dst)-start < maxRoute {
		if path[0] == '/' {
			dst = append(dst, '/')
			path = path[1:]
			continue
		}
		segment := path
		if i := bytes.IndexByte(path, '/'); i >= 0 {
			segment, path = path[:i], path[i:]
		} else {
			path = nil
		}
		dst = appendSegment(dst, segment, maxRoute-(len(dst)-start))
	}
	if len(dst) == start {
		dst = append(dst, '/')
	}
	return dst
}

// cutTarget returns the path of a request target (RFC 9112, 3.2).
func cutTarget(path []byte) []byte {
	if i := bytes.IndexAny(path, "?#;"); i >= 0 {
		path = path[:i]
	}
	if len(path) > 0 && path[0] != '/' {
		if i := bytes.Index(path, []byte("://")); i > 0 {
			path = path[i+3:]
			if slash := bytes.IndexByte(path, '/'); slash >= 0 {
				return path[slash:]
			}
			return nil
		}
	}
	return path
}

func appendSegment(dst, segment []byte, room int) []byte {
	stem, ext := segment, []byte(nil)
	if i := bytes.LastIndexByte(segment, '.'); i > 0 && isExtension(segment[i+1:]) {
		stem, ext = segment[:i], segment[i:]
	}
	switch {
	case isID(segment):
		return append(dst, ":id"...)
	case len(ext) > 0 && isID(stem):
		return append(append(dst, ":id"...), ext...)
	}
	return append(dst, segment[:min(len(segment), room)]...)
}

func isExtension(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 5 && (b[0] < '0' || b[0] > '9')
}

// isID reports whether a segment is a value rather than a name: a number, also
// signed or with a fraction; a date; a uuid; a ulid; or a hash, which is 16 or
// more hexadecimal digits, or 8 or more of which some but not all are letters.
func isID(b []byte) bool {
	var digit, letter, hex, dash, point int
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			digit++
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			hex++
		case c >= 'g' && c <= 'z' || c >= 'G' && c <= 'Z':
			letter++
		case c == '-' || c == '+' && i == 0:
			dash++
		case c == '.' || c == ',' || c == ':':
			point++
		default:
			return false
		}
	}
	n := len(b)
	switch {
	case digit == 0:
		return hex >= 16 && hex == n
	case digit == n, digit+1 == n && (dash == 1 && (b[0] == '-' || b[0] == '+') || point == 1):
		return true
	case letter == 0 && hex == 0:
		return isDate(b)
	case letter == 0 && dash == 4 && point == 0 && n == 36:
		return b[8] == '-' && b[13] == '-' && b[18] == '-' && b[23] == '-'
	case letter == 0 && dash == 0 && point == 0:
		return n >= 8
	}
	return n == 26 && dash == 0 && point == 0 && isULID(b)
}

// isDate reports whether b starts as 2021-08-21 does.
func isDate(b []byte) bool {
	return len(b) >= 10 && b[4] == '-' && b[7] == '-' && !bytes.ContainsAny(b[:4], "-.,:")
}

// isULID reports whether 26 letters and digits are a ulid: Crockford's base32,
// of 128 bits, so that the first is at most 7. Words of that length are told by
// their lack of digits.
func isULID(b []byte) bool {
	digits := 0
	for _, c := range b {
		if c >= '0' && c <= '9' {
			digits++
		}
		switch c | 0x20 {
		case 'i', 'l', 'o', 'u':
			return false
		}
	}
	return b[0] <= '7' && digits >= 2
}
