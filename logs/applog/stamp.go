package applog

import "bytes"

// stampLen returns the length of the time at the start of the text, 0 when
// there is none:
//
//	2026-11-20T14:02:11.123456789+09:00   2026/11/20 14:02:11.123   20/Nov/2026:14:02:11 +0900
//	2026-11-20 14:02:11,123 UTC   Nov 20 14:02:11   Fri Nov 20 14:02:11 2026   14:02:11.123   2:02PM
//	1795163915.123   1795163915123
func stampLen(b []byte) int {
	n := 0
	if w := weekdayLen(b); w > 0 {
		n = w
	}
	date := dateLen(b[n:])
	if date == 0 && n > 0 {
		return 0
	}
	n += date
	clock := n
	if date > 0 && n < len(b) && (b[n] == 'T' || b[n] == ' ' || b[n] == ':' || b[n] == '_') {
		clock++
	}
	c := clockLen(b[clock:])
	switch {
	case c > 0:
		n = clock + c
		n += zoneLen(b[n:])
		n += yearLen(b[n:])
	case date == 0:
		n = epochLen(b)
	}
	if n < len(b) && isWord(b[n]) || n > 0 && date > 0 && c == 0 && isMonth(b) {
		return 0
	}
	return n
}

const months, weekdays = "JanFebMarAprMayJunJulAugSepOctNovDec", "MonTueWedThuFriSatSun"

// isOneOf reports whether the text starts with one of the names of three
// letters.
func isOneOf(b []byte, names string) bool {
	if len(b) < 3 || b[0] < 'A' || b[0] > 'Z' {
		return false
	}
	for i := 0; i < len(names); i += 3 {
		if string(b[:3]) == names[i:i+3] {
			return true
		}
	}
	return false
}

func isMonth(b []byte) bool { return isOneOf(b, months) }

func weekdayLen(b []byte) int {
	switch {
	case !isOneOf(b, weekdays) || len(b) < 5:
		return 0
	case b[3] == ' ':
		return 4
	case b[3] == ',' && b[4] == ' ':
		return 5
	}
	return 0
}

func dateLen(b []byte) int {
	d := countDigits(b)
	switch {
	case d == 4 && len(b) >= 10 && (b[4] == '-' || b[4] == '/' || b[4] == '.') && countDigits(b[5:]) == 2 && b[7] == b[4] &&
		countDigits(b[8:]) == 2:
		return 10
	case d == 2 && len(b) >= 11 && (b[2] == '/' || b[2] == ' ' || b[2] == '-') && isMonth(b[3:]) && b[6] == b[2] &&
		countDigits(b[7:]) == 4:
		return 11
	case d == 0 && isMonth(b) && len(b) > 5 && b[3] == ' ':
		n := 4
		for n < len(b) && b[n] == ' ' && n < 6 {
			n++
		}
		if k := countDigits(b[n:]); k == 1 || k == 2 {
			return n + k
		}
	}
	return 0
}

// clockLen returns the length of 14:02:11 with a fraction, or of 2:02PM.
func clockLen(b []byte) int {
	h := countDigits(b)
	if h < 1 || h > 2 || len(b) < h+5 || b[h] != ':' || countDigits(b[h+1:]) != 2 {
		return 0
	}
	n := h + 3
	if string(b[n:n+2]) == "AM" || string(b[n:n+2]) == "PM" {
		return n + 2
	}
	if b[n] != ':' || countDigits(b[n+1:]) != 2 {
		return 0
	}
	n += 3
	if n < len(b) && (b[n] == '.' || b[n] == ',') {
		if f := countDigits(b[n+1:]); f > 0 {
			n += 1 + f
		}
	}
	return n
}

// zoneLen returns the length of Z, +09:00, " +0900 JST" or " UTC".
func zoneLen(b []byte) int {
	n := 0
	if len(b) > 0 && (b[0] == 'Z' || b[0] == 'z') {
		return 1
	}
	if p := b[countSpaces(b):]; len(p) >= 5 && (p[0] == '+' || p[0] == '-') {
		s := len(b) - len(p) + 1
		if k := countDigits(b[s:]); k == 4 {
			n = s + 4
		} else if k == 2 && len(b) >= s+5 && b[s+2] == ':' && countDigits(b[s+3:]) == 2 {
			n = s + 5
		}
	}
	for _, zone := range [...]string{" UTC", " GMT", " JST", "UTC"} {
		if bytes.HasPrefix(b[n:], []byte(zone)) {
			return n + len(zone)
		}
	}
	return n
}

// yearLen returns the length of a year after the clock, as ctime(3) has it.
func yearLen(b []byte) int {
	if len(b) >= 5 && b[0] == ' ' && (b[1] == '1' || b[1] == '2') && countDigits(b[1:]) == 4 &&
		(len(b) == 5 || b[5] == ' ' || b[5] == ']') &&
		(string(b[1:3]) == "20" || string(b[1:3]) == "19") {
		return 5
	}
	return 0
}

// epochLen returns the length of a Unix time of this century in seconds, with or
// without a fraction, or in milliseconds.
func epochLen(b []byte) int {
	n := countDigits(b)
	if n != 10 && n != 13 || b[0] != '1' && b[0] != '2' {
		return 0
	}
	if n == 10 && n < len(b) && b[n] == '.' {
		if f := countDigits(b[n+1:]); f > 0 {
			n += 1 + f
		}
	}
	if n < len(b) && b[n] != ' ' && b[n] != '\t' && b[n] != ':' {
		return 0
	}
	return n
}

func countSpaces(b []byte) int {
	n := 0
	for n < len(b) && b[n] == ' ' {
		n++
	}
	return n
}
