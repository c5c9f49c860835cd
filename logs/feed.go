package logs

import (
	"bytes"

	"github.com/kasoku/kasoku/logs/lines"
)

// A Line is one line of a log with its place in the window.
type Line struct {
	Text   []byte
	Number int64 // from 1
	Offset int64 // bytes
	Width  int64 // bytes that it takes of the log
	Cut    bool  // longer than the bound, so that Text is only its start
}

// A Feed yields the lines of a window and can look ahead. It counts the lines
// that it yielded. The zero value is not usable; see [NewFeed].
type Feed struct {
	Line  // the present line; its text is valid until the next Next
	src   *lines.Window
	own   bool // the present text is a copy
	ahead []Line
	count *Account
}

// NewFeed returns a feed of the lines, which counts into the account.
func NewFeed(src *lines.Window, count *Account) Feed { return Feed{src: src, count: count} }

// Next goes on to the next line.
func (f *Feed) Next() bool {
	switch {
	case len(f.ahead) > 0:
		f.Line, f.own = f.ahead[0], true
		f.ahead = f.ahead[1:]
	case f.src.Scan():
		f.Line, f.own = f.present(), false
	default:
		return false
	}
	f.count.Lines++
	if f.Cut {
		f.count.Cut++
	}
	return true
}

// Peek returns the text of the line n lines after the present one, nil at the
// end. Lines that were looked at are kept in memory until Next passes them.
func (f *Feed) Peek(n int) []byte {
	if !f.own {
		f.Text, f.own = bytes.Clone(f.Text), true
	}
	for len(f.ahead) < n {
		if !f.src.Scan() {
			return nil
		}
		l := f.present()
		l.Text = append([]byte{}, l.Text...) // not nil
		f.ahead = append(f.ahead, l)
	}
	return f.ahead[n-1].Text
}

func (f *Feed) present() Line {
	return Line{f.src.Bytes(), f.src.Line(), f.src.Offset(), f.src.Width(), f.src.Truncated()}
}

// Err returns the error that ended the lines.
func (f *Feed) Err() error { return f.src.Err() }
