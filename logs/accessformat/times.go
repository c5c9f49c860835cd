package accessformat

import (
	"math"
	"time"
)

// maxTime is the longest text of a time that is remembered.
const maxTime = 64

// A timeParser parses the times of a log. It remembers the last one, since
// hundreds of requests share a second, and the offset of the local time in the
// last minute. The time of the last text is in unix, res and zone.
type timeParser struct {
	local *time.Location // of times without an offset; nil means the local one

	text [maxTime]byte // the last text, with what follows it and decides where it ends
	n    int           // bytes of text; 0 when there is none
	end  int           // bytes of text that are the time
	last bool          // nothing may stand after the text

	unix int64 // ns since 1970
	res  time.Duration
	zone int32 // s ahead of UTC

	minute int64 // since 1970, by a local clock, of localZone
	offset int32 // of the local time then, in s ahead of UTC
}

// parse reads a whole value in one of the forms that servers write. Brackets
// around it are skipped.
func (p *timeParser) parse(b []byte) bool {
	if p.n == len(b) && p.n == p.end && string(p.text[:p.n]) == string(b) && p.n > 0 {
		return true
	}
	inner := b
	if len(b) > 1 && b[0] == '[' && b[len(b)-1] == ']' {
		inner = b[1 : len(b)-1]
	}
	p.n = 0
	if p.shape(inner) != len(inner) || len(inner) == 0 {
		return false
	}
	if len(b) <= maxTime {
		p.n, p.end, p.last = copy(p.text[:], b), len(b), true
	}
	return true
}

// take reads the time that b starts with and returns how many bytes it takes, 0
// when b starts with none.
func (p *timeParser) take(b []byte) int {
	if p.n > 0 && len(b) >= p.n && string(p.text[:p.n]) == string(b[:p.n]) && (!p.last || p.n == len(b)) {
		return p.end
	}
	p.n = 0
	end := p.shape(b)
	if end == 0 || end+3 > maxTime {
		return end
	}
	// A blank may be followed by an offset, a point or comma by a fraction.
	next := 1
	if end < len(b) && (b[end] == ' ' || b[end] == '.' || b[end] == ',') {
		next = 3
	}
	p.last = end+next > len(b)
	p.n, p.end = copy(p.text[:], b[:min(end+next, len(b))]), end
	return end
}

// set puts the last time into the record.
func (p *timeParser) set(r *Record) {
	r.Unix, r.Resolution, r.Zone = p.unix, p.res, p.zone
	r.Has |= HasTime
}

// shape parses the time that b starts with by the form of its first bytes and
// returns its length, 0 when there is none.
func (p *timeParser) shape(b []byte) int {
	switch {
	case len(b) >= 20 && b[2] == '/' && b[6] == '/' && b[11] == ':':
		return p.common(b)
	case len(b) >= 19 && (b[4] == '-' && b[7] == '-' || b[4] == '/' && b[7] == '/'):
		return p.iso(b)
	}
	return p.epoch(b)
}

// common reads 21/Aug/2021:10:00:00 +0900 (nginx $time_local, Apache %t), also
// without the offset or with a fraction of a second.
func (p *timeParser) common(b []byte) int {
	day, ok1 := parseTwo(b)
	month, ok2 := monthOf(b[3], b[4], b[5])
	year, ok3 := parseFour(b[7:])
	if !ok1 || !ok2 || !ok3 {
		return 0
	}
	return p.clock(b, 12, daysSinceEpoch(year, month, day))
}

// iso reads 2021-08-21T10:00:00.123+09:00 ($time_iso8601) and its relatives
// with slashes, with a blank or a tab for the T, and without an offset.
func (p *timeParser) iso(b []byte) int {
	year, ok1 := parseFour(b)
	month, ok2 := parseTwo(b[5:])
	day, ok3 := parseTwo(b[8:])
	if c := b[10]; !ok1 || !ok2 || !ok3 || c != 'T' && c != ' ' && c != '\t' && c != 't' {
		return 0
	}
	return p.clock(b, 11, daysSinceEpoch(year, month, day))
}

// noDay is what days returns for a day that no calendar has.
const noDay = math.MinInt64

// clock reads what stands after the date: 10:00:00, a fraction, an offset. It
// returns the length of the whole.
func (p *timeParser) clock(b []byte, at int, day int64) int {
	if len(b) < at+8 || b[at+2] != ':' || b[at+5] != ':' || day == noDay {
		return 0
	}
	hour, ok1 := parseTwo(b[at:])
	minute, ok2 := parseTwo(b[at+3:])
	second, ok3 := parseTwo(b[at+6:])
	if !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return 0
	}
	at += 8
	var fraction int64
	res := time.Second
	if at+1 < len(b) && (b[at] == '.' || b[at] == ',') && isDigit(b[at+1]) {
		at++
		for ; at < len(b) && isDigit(b[at]); at++ {
			if res > 1 {
				res /= 10
				fraction += int64(b[at]-'0') * int64(res)
			}
		}
	}
	minutes := day*24*60 + int64(hour)*60 + int64(minute)
	n, ok := p.zoneAt(b[at:], minutes)
	if !ok {
		return 0
	}
	p.unix, p.res = ((minutes*60+int64(second))-int64(p.zone))*int64(time.Second)+fraction, res
	return at + n
}

// zoneAt reads the offset that b starts with, such as Z, +09:00 or " +0900", into
// the zone, and returns its length. Without one the zone is that of the location
// in the minute, which is counted by its clock.
func (p *timeParser) zoneAt(b []byte, minute int64) (n int, ok bool) {
	if len(b) > 0 && (b[0] == 'Z' || b[0] == 'z') {
		p.zone = 0
		return 1, true
	}
	s := b
	if len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	if len(s) < 5 || s[0] != '+' && s[0] != '-' || !isDigit(s[1]) {
		p.zone = p.localZone(minute)
		return 0, true
	}
	hours, ok1 := parseTwo(s[1:])
	m := s[3:]
	if m[0] == ':' {
		m = m[1:]
	}
	if len(m) < 2 {
		return 0, false
	}
	minutes, ok2 := parseTwo(m)
	if !ok1 || !ok2 || hours > 24 || minutes > 59 {
		return 0, false
	}
	p.zone = int32(hours*3600 + minutes*60)
	if s[0] == '-' {
		p.zone = -p.zone
	}
	return len(b) - len(m) + 2, true
}

// localZone returns the offset of the location in a minute of its clock.
func (p *timeParser) localZone(minute int64) int32 {
	if minute == p.minute && minute != 0 {
		return p.offset
	}
	loc := p.local
	if loc == nil {
		loc = time.Local
	}
	t := time.Date(1970, 1, 1, 0, int(minute), 0, 0, time.UTC)
	t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, loc)
	_, offset := t.Zone()
	p.minute, p.offset = minute, int32(offset)
	return p.offset
}

// epoch reads 1629507600.123 ($msec), also without a fraction, or in
// milliseconds, microseconds or nanoseconds as some programs write it.
func (p *timeParser) epoch(b []byte) int {
	end := 0
	var whole uint64
	for end < len(b) && isDigit(b[end]) {
		if end == 19 {
			return 0
		}
		whole = whole*10 + uint64(b[end]-'0')
		end++
	}
	unit := time.Second
	switch end {
	case 10:
	case 13:
		unit = time.Millisecond
	case 16:
		unit = time.Microsecond
	case 19:
		unit = 1
	default:
		return 0
	}
	if whole > math.MaxInt64/uint64(unit)-1 {
		return 0 // after the year 2262
	}
	unix := int64(whole) * int64(unit)
	if end+1 < len(b) && b[end] == '.' && isDigit(b[end+1]) {
		end++
		for ; end < len(b) && isDigit(b[end]); end++ {
			if unit > 1 {
				unit /= 10
				unix += int64(b[end]-'0') * int64(unit)
			}
		}
	}
	p.unix, p.res = unix, unit
	p.zone = 0
	return end
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// parseTwo parses two digits.
func parseTwo(b []byte) (int, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	return int(hi)*10 + int(lo), hi <= 9 && lo <= 9
}

// parseFour parses four digits.
func parseFour(b []byte) (int, bool) {
	hi, ok1 := parseTwo(b)
	lo, ok2 := parseTwo(b[2:])
	return hi*100 + lo, ok1 && ok2
}

var monthNames = []byte("JanFebMarAprMayJunJulAugSepOctNovDec")

// monthOf returns the number of a month's English name.
func monthOf(a, b, c byte) (int, bool) {
	for i := 0; i < len(monthNames); i += 3 {
		if monthNames[i+2] == c && monthNames[i+1] == b && monthNames[i] == a {
			return i/3 + 1, true
		}
	}
	return 0, false
}

// daysSinceEpoch returns the days from 1970-01-01 to a date, noDay when the calendar has
// none such.
//
// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013),
// days_from_civil: years begin in March, so that the leap day is the last.
func daysSinceEpoch(year, month, day int) int64 {
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || year < 1678 || year > 2261 {
		return noDay
	}
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	ofEra := year - era*400
	ofYear := (153*(month-3)+2)/5 + day - 1
	return int64(era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468)
}

func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}
