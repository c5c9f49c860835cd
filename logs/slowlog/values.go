package slowlog

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// parseNumber parses digits.
func parseNumber(b []byte) (uint64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// maxSeconds is the longest time, in seconds, that fits in a duration.
const maxSeconds = uint64(math.MaxInt64 / int64(time.Second))

// parseSeconds parses a decimal fraction of seconds. Digits beyond the nanosecond
// are cut.
func parseSeconds(b []byte) (time.Duration, bool) {
	whole, fraction, dot := bytes.Cut(b, []byte("."))
	n, ok := parseNumber(whole)
	if !ok || n >= maxSeconds || dot && len(fraction) == 0 {
		return 0, false
	}
	d := time.Duration(n) * time.Second
	unit := time.Second
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
		unit /= 10
		d += time.Duration(c-'0') * unit
	}
	return d, true
}

// isoTime parses 2026-11-20T09:35:53.123456Z, or with an offset such as +09:00
// (log_timestamps=SYSTEM).
func isoTime(b []byte) (time.Time, bool) {
	if len(b) < 20 || b[4] != '-' || b[10] != 'T' {
		return time.Time{}, false
	}
	if i := bytes.IndexAny(b, " \t"); i >= 0 {
		b = b[:i]
	}
	if len(b) > 40 {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	return t, err == nil
}

// isTimeLine reports whether the line is "# Time: " with a time after it:
// 261120  9:35:53, or the ISO form of MySQL since 5.7.
func isTimeLine(line []byte) bool {
	if !hasPrefix(line, "# Time: ") {
		return false
	}
	b := line[len("# Time: "):]
	if len(b) >= 19 && b[4] == '-' && b[7] == '-' && b[10] == 'T' && b[13] == ':' && b[16] == ':' {
		return true
	}
	return len(b) >= 15 && b[6] == ' ' && b[9] == ':' && b[12] == ':'
}

// isUserLine reports whether the line is "# User@Host: u[u] @ h [a]".
func isUserLine(line []byte) bool {
	if !hasPrefix(line, "# User@Host: ") {
		return false
	}
	i := bytes.Index(line, []byte("] @ "))
	if i < 0 || bytes.IndexByte(line[:i], '[') < 0 {
		return false
	}
	open := bytes.IndexByte(line[i:], '[')
	return open > 0 && bytes.IndexByte(line[i+open:], ']') > 0
}

// isBanner reports whether the line is one of the three that a server writes
// when it opens its log:
//
//	/usr/sbin/mariadbd, Version: 10.11.19-MariaDB-0+deb12u1 (Debian 12). started with:
//	Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
//	Time		    Id Command	Argument
func isBanner(line []byte) bool {
	switch {
	case hasPrefix(line, "Time ") || hasPrefix(line, "Time\t"):
		return bytes.HasPrefix(bytes.TrimLeft(line[4:], " \t"), []byte("Id Command"))
	case len(line) > 10 && (hasPrefix(line, "Tcp port: ") || hasPrefix(line, "TCP Port: ")):
		return line[10] >= '0' && line[10] <= '9'
	}
	return isVersion(line)
}

func isVersion(line []byte) bool {
	n := len(line)
	return n > 0 && line[0] != '#' && (line[n-1] == ':' || line[n-1] == 'y') &&
		(bytes.HasSuffix(line, []byte("started with:")) || bytes.HasSuffix(line, []byte("embedded library"))) &&
		bytes.Contains(line, []byte(", Version: "))
}

// useLine returns the database of "use `db`;".
func useLine(line []byte) ([]byte, bool) {
	if !hasPrefix(line, "use ") || line[len(line)-1] != ';' {
		return nil, false
	}
	db := line[4 : len(line)-1]
	if len(db) > 1 && db[0] == '`' && db[len(db)-1] == '`' {
		db = db[1 : len(db)-1]
	}
	return db, len(db) > 0
}

// setLine returns the time of the SET line that a server writes before the
// statement: SET last_insert_id=1,insert_id=2,timestamp=1795163915; It is 0
// when only the others are set.
func setLine(line []byte) (timestamp int64, ok bool) {
	const plain = len("SET timestamp=1795163915;")
	if len(line) == plain && hasPrefix(line, "SET timestamp=") && line[plain-1] == ';' { // nearly always
		if n, ok := parseNumber(line[plain-11 : plain-1]); ok && n <= maxTimestamp {
			return int64(n), true
		}
	}
	if !hasPrefix(line, "SET ") || len(line) < 6 || line[len(line)-1] != ';' {
		return 0, false
	}
	for rest := line[4 : len(line)-1]; len(rest) > 0; {
		part, after, _ := bytes.Cut(rest, []byte(","))
		rest = after
		name, value, found := bytes.Cut(part, []byte("="))
		switch {
		case !found:
			return 0, false
		case string(name) == "timestamp":
			n, ok := parseNumber(bytes.TrimSpace(value))
			if !ok || n > maxTimestamp {
				return 0, false
			}
			timestamp = int64(n)
		case string(name) != "last_insert_id" && string(name) != "insert_id":
			return 0, false
		}
	}
	return timestamp, true
}

// maxTimestamp is in the year 2514; MariaDB's TIMESTAMP ends before.
const maxTimestamp = 1 << 34

// quoteShort returns the value for an error message, cut.
func quoteShort(b []byte) string {
	if len(b) > 40 {
		b = b[:40]
	}
	return strconv.QuoteToASCII(string(b))
}

// shortTime parses 261120  9:35:53, the time of servers before MySQL 5.7 and of
// MariaDB, in a zone; nil is UTC.
func shortTime(b []byte, zone *time.Location) (time.Time, bool) {
	if len(b) < 15 || b[6] != ' ' || b[9] != ':' || b[12] != ':' {
		return time.Time{}, false
	}
	hour := b[7:9]
	if hour[0] == ' ' {
		hour = hour[1:]
	}
	var n [6]int
	for i, digits := range [...][]byte{b[:2], b[2:4], b[4:6], hour, b[10:12], b[13:15]} {
		v, ok := parseNumber(digits)
		if !ok {
			return time.Time{}, false
		}
		n[i] = int(v)
	}
	if n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 || n[3] > 23 || n[4] > 59 || n[5] > 60 {
		return time.Time{}, false
	}
	if zone == nil {
		zone = time.UTC
	}
	return time.Date(2000+n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, zone), true
}

// digitsOf returns the time as its digits are, without regard to its zone.
func digitsOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}
