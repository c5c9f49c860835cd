package slowlog

import (
	"bytes"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// A draft is the entry under way, which the lines before the one that is looked at belong
// to, and what they have shown of it so far.
type draft struct {
	entry
	in        bool // there is one
	seenUser  bool
	seenQuery bool
	headFull  bool // the head is longer than what is kept of it
	afterHead bool // what follows is the statement
	quotes    sqlshape.Quotes
	lexed     int32 // where the bytes of the statement end that quotes has seen
}

// beginText starts the statement at that place.
func (d *draft) beginText(at int32) {
	d.afterHead = true
	d.text, d.textEnd, d.lexed = at, at, at
	d.quotes = sqlshape.Quotes{}
}

// openQuote returns the quote that the statement, which lies in buf, has left open so
// far. It reads on from where it was last asked.
func (d *draft) openQuote(buf []byte) byte {
	if end := d.textEnd; d.lexed < end {
		d.quotes.Write(buf[d.lexed:end])
		d.lexed = end
	}
	return d.quotes.Open()
}

// kept returns where what is kept of the entry ends, when the line that is looked at
// begins at next.
func (d *draft) kept(next int32) int32 {
	switch {
	case d.textEnd-d.text >= maxStatement:
		return d.textEnd
	case d.headFull && !d.afterHead:
		return max(d.headEnd, d.useEnd)
	}
	return next
}

// move follows the bytes of the entry when those before from go.
func (d *draft) move(from int32) {
	for _, p := range [...]*int32{&d.head, &d.headEnd, &d.use, &d.useEnd, &d.text, &d.textEnd, &d.lexed} {
		*p = max(*p-from, 0) // 0 is what is not there
	}
}

// isPlausible reports whether an entry of that time may follow.
func (d *draft) isPlausible(timestamp int64) bool {
	if d.timestamp == 0 || timestamp == 0 {
		return true
	}
	by := time.Duration(timestamp-d.timestamp) * time.Second
	return -plausible <= by && by <= plausible
}

// repeats are the lines of heads that come again and again: the same user, the same
// second.
type repeats struct {
	user    []byte // the last line that named a user
	set     []byte // the last line that set the time
	setTime int64  // what it set
}

// setLine is [setLine], which is quick for the line that it saw last: that of the
// same second.
func (r *repeats) setLine(line []byte) (timestamp int64, ok bool) {
	if len(r.set) > 0 && string(line) == string(r.set) {
		return r.setTime, true
	}
	if timestamp, ok = setLine(line); ok && len(line) <= maxSetLine {
		r.set, r.setTime = append(r.set[:0], line...), timestamp
	}
	return timestamp, ok
}

// isUser is [isUserLine], which is quick for a user and host that it saw last.
func (r *repeats) isUser(line []byte) bool {
	if n := len(r.user); n > 0 && len(line) >= n && string(line[:n]) == string(r.user) {
		return true
	}
	if !isUserLine(line) {
		return false
	}
	at := bytes.Index(line, []byte("] @ "))
	at += bytes.IndexByte(line[at:], '[')
	r.user = append(r.user[:0], line[:at+bytes.IndexByte(line[at:], ']')+1]...)
	return true
}

// banners are what servers say of themselves when they open the log.
type banners struct{ mariadb, mysql bool }

// see reads a line of a banner.
func (b *banners) see(line []byte) {
	if isVersion(line) {
		b.mariadb = bytes.Contains(line, []byte("MariaDB")) || bytes.Contains(line, []byte("mariadbd"))
		b.mysql = !b.mariadb
	}
}
