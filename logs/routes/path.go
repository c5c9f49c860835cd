package routes

import "bytes"

// MaxRoute is the longest route kept, in bytes; what is longer is cut.
const MaxRoute = 300

// maxDepth is how many segments of a path make its route; what is deeper is a
// star. APIs rarely have more than eight; crawlers that follow relative links in
// circles have hundreds.
const maxDepth = 16

// appendAuto appends the route of a path by its form alone, and returns where
// the path ended: at its query string, its fragment or the end of b. The path
// has no scheme and host.
func appendAuto(dst, b []byte) ([]byte, int) {
	start, depth := len(dst), 0
	keep := 0 // from here to i the path is copied as it is
	i := 0
	for i < len(b) {
		if b[i] == '/' {
			if depth++; depth > maxDepth {
				return cutRoute(append(append(dst, b[keep:i]...), "/*"...), start), endOfPath(b)
			}
			i++
		}
		from := i
		if end := i + 36; end <= len(b) && b[i+8] == '-' && (end == len(b) || class[b[end]] == 0) && isUUID(b[i:end]) {
			dst = append(append(dst, b[keep:from]...), ":id"...)
			i, keep, from = end, end, end
		}
		for i < len(b) && plain[b[i]] { // most segments are names and need no more than this
			i++
		}
		if i-from < minHexWord && (i == len(b) || b[i] == '/') {
			continue
		}
		i = from
		var mask uint8
		digits := 0
		for i < len(b) {
			k := class[b[i]]
			if k == 0 {
				break
			}
			mask |= k
			digits += int(k & digit)
			i++
		}
		n := i - from
		switch {
		case mask&(percent|digit) == 0 && n < minHexWord:
		case len(dst)-start+from-keep >= MaxRoute:
			return cutRoute(append(dst, b[keep:from]...), start), endOfPath(b)
		default:
			dst = append(dst, b[keep:from]...)
			dst = appendSegment(dst, b[from:i], mask, digits)
			keep = i
		}
		if i == len(b) || b[i] == '/' {
			continue
		}
		if b[i] != ';' {
			break
		}
		dst = append(dst, b[keep:i]...)
		for i < len(b) && b[i] != '/' && b[i] != '?' && b[i] != '#' { // matrix parameters
			i++
		}
		keep = i
		if i < len(b) && b[i] != '/' {
			break
		}
	}
	return cutRoute(append(dst, b[keep:i]...), start), i
}

// cutRoute cuts a route, which begins at start, so that it ends with a whole
// character.
func cutRoute(dst []byte, start int) []byte {
	end := start + MaxRoute
	if len(dst) <= end {
		return dst
	}
	for i := end; i > end-4; i-- {
		if dst[i]&0xc0 != 0x80 { // the first byte of a character
			return dst[:i]
		}
	}
	return dst[:end]
}

// endOfPath returns where the query string or fragment begins.
func endOfPath(b []byte) int {
	if i := bytes.IndexAny(b, "?#"); i >= 0 {
		return i
	}
	return len(b)
}

// targetOf returns what follows the scheme and host of a request target (RFC 9112,
// 3.2.2): the absolute form is what clients send to proxies.
func targetOf(b []byte) []byte {
	if len(b) == 0 || b[0] == '/' {
		return b
	}
	i := bytes.Index(b[:min(len(b), 16)], []byte("://"))
	if i <= 0 {
		return b
	}
	b = b[i+3:]
	if i := bytes.IndexAny(b, "/?#"); i >= 0 {
		return b[i:]
	}
	return nil
}

// appendSegment appends a segment of a path, with :id for what is a value in
// it: the whole of it; all but an extension; the value of key=value; or a hash or
// long number between its words.
func appendSegment(dst, b []byte, mask uint8, digits int) []byte {
	if mask&percent != 0 {
		var scratch [64]byte
		decoded := appendUnreserved(scratch[:0], b)
		if len(decoded) != len(b) {
			mask, digits = surveyBytes(decoded)
		}
		return appendDecoded(dst, decoded, mask, digits)
	}
	return appendDecoded(dst, b, mask, digits)
}

func appendDecoded(dst, b []byte, mask uint8, digits int) []byte {
	if isValue(b, mask, digits) {
		return append(dst, ":id"...)
	}
	if mask&(point|other) == 0 {
		return append(dst, b...)
	}
	stem, ext := cutExtension(b)
	if len(ext) > 0 && isID(stem) {
		return append(append(dst, ":id"...), ext...)
	}
	if i := bytes.IndexByte(stem, '='); i > 0 && isID(b[i+1:]) {
		return append(append(dst, b[:i+1]...), ":id"...)
	}
	switch name, hash, _ := cutBuilt(b); {
	case name != nil && isBuildHash(hash):
		dst = append(append(dst, name...), ":id"...)
	case digits > 0:
		dst = appendWords(dst, stem)
	default:
		dst = append(dst, stem...)
	}
	return append(dst, ext...)
}

// buildHash is how many characters of a hash builders of web pages append to a
// name: Vite and Rollup of base64, esbuild of base32.
const buildHash = 8

// cutBuilt cuts a segment that may be a file of such a builder before its hash
// and before its extension. The name ends with what stands between; it is nil
// when the segment is no such file or the hash has no capitals.
func cutBuilt(b []byte) (name, hash, ext []byte) {
	stem, ext := cutExtension(b)
	n := len(stem) - buildHash
	if n < 2 || stem[n-1] != '-' && stem[n-1] != '.' || !isBuilt(ext) {
		return nil, nil, nil
	}
	if mask, _, _, ok := mixtureOf(stem[n:]); !ok || mask&upper == 0 {
		return nil, nil, nil
	}
	return stem[:n], stem[n:], ext
}

// isBuilt reports whether files with that extension come from such builders.
func isBuilt(ext []byte) bool {
	switch string(ext) {
	case ".js", ".mjs", ".css", ".map", ".wasm", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".woff",
		".woff2", ".ttf":
		return true
	}
	return false
}

// isBuildHash reports whether that many characters look like no word: both cases
// and digits mixed, both cases mixed more than in CamelCase, or capitals and
// digits mixed.
func isBuildHash(b []byte) bool {
	mask, changes, _, ok := mixtureOf(b)
	switch {
	case !ok || mask&upper == 0:
		return false
	case mask&lower == 0:
		return mask&digit != 0 && changes >= 2
	case mask&digit == 0:
		return changes >= 4
	}
	return changes >= 3
}

// minLong is how many digits make a number that stands between words a value:
// photo_20210821.jpg and article-1234, but not utf-8 or page-2.
const minLong = 4

// appendWords appends the stem of a segment with each hash and long number
// between its words as :id. Builders of web pages name files like
// index-4b6e2f1a.js after their content.
func appendWords(dst, b []byte) []byte {
	if n := len(b) - 36; n > 0 && class[b[n-1]] == point && isUUID(b[n:]) {
		return append(append(dst, b[:n]...), ":id"...)
	}
	for len(b) > 0 {
		i := bytes.IndexAny(b, "-_.")
		if i < 0 {
			i = len(b)
		}
		if word := b[:i]; isHash(word) {
			dst = append(dst, ":id"...)
		} else {
			dst = append(dst, word...)
		}
		if i < len(b) {
			dst = append(dst, b[i])
			i++
		}
		b = b[i:]
	}
	return dst
}

// isHash reports whether a word of a segment is a long number, or at least eight
// hexadecimal digits of which some are digits.
func isHash(word []byte) bool {
	mask, digits := surveyBytes(word)
	return digits >= minLong && mask&^digit == 0 || digits > 0 && len(word) >= minHex && mask&^hex == 0
}

// cutExtension cuts a segment before its last point, when an extension of a
// file follows it: up to five letters and digits that start with a letter.
func cutExtension(b []byte) (stem, ext []byte) {
	i := bytes.LastIndexByte(b, '.')
	n := len(b) - i - 1
	if i <= 0 || n < 1 || n > 5 || class[b[i+1]]&letters == 0 {
		return b, nil
	}
	if mask, _ := surveyBytes(b[i+1:]); mask&^(digit|letters) != 0 {
		return b, nil
	}
	return b[:i], b[i:]
}

// appendUnreserved appends b with the percent signs of unreserved characters
// decoded: they mean the same with and without (RFC 3986, 6.2.2.2).
func appendUnreserved(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && i+2 < len(b) {
			if c, ok := hexByte(b[i+1], b[i+2]); ok && (class[c]&(digit|letters) != 0 ||
				bytes.IndexByte([]byte("-._~"), c) >= 0) {
				dst = append(dst, c)
				i += 2
				continue
			}
		}
		dst = append(dst, b[i])
	}
	return dst
}

func hexByte(hi, lo byte) (byte, bool) {
	h, ok := hexNibble(hi)
	l, ok2 := hexNibble(lo)
	return h<<4 | l, ok && ok2
}

func hexNibble(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
