// Package graphite sends points to Carbon, or to whatever else takes its protocols:
// lines of text over TCP or UDP, and pickled lists over TCP.
//
// The one idea is a [Sender] that never makes who measures wait: it keeps a bounded
// number of points, connects again when the server was gone, and counts what it had
// to drop. The encoders stand alone.
//
// Times are whole seconds since 1970, which is all that Carbon keeps. Carbon drops
// values that are no numbers; here they are never sent.
//
// Sources: graphite.readthedocs.io, "Feeding in your data"; carbon 1.1.10,
// lib/carbon/protocols.py; PEP 307 and pickletools for the opcodes.
package graphite

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// A Point is one value of one metric.
type Point struct {
	Path  string // such as web1.cpu.user; see [Path]
	Time  int64  // s since 1970
	Value float64
}

// MaxMessage is the longest pickled message that Carbon takes, without its length;
// it drops the connection at a longer one (PICKLE_RECEIVER_MAX_LENGTH).
const MaxMessage = 1 << 20

// maxSegment is how long a part of a path may be. Carbon makes a file name of the
// last one, with ".wsp" and on the way there ".wsp.tmp", and 255 bytes is the end.
const maxSegment = 200

// isSendable reports whether Carbon would keep the value, and whoever reads it after.
func isSendable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// AppendLine appends the point as a line of text; nothing when its value is no number.
func AppendLine(dst []byte, p Point) []byte {
	if !isSendable(p.Value) {
		return dst
	}
	dst = append(dst, p.Path...)
	dst = append(dst, ' ')
	dst = strconv.AppendFloat(dst, p.Value, 'f', -1, 64)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, p.Time, 10)
	return append(dst, '\n')
}

// Opcodes of pickle's protocol 2, which Python 2 reads as well. What lies between head and
// tail is a list of points.
const (
	PickleHead = "\x80\x02](" // protocol 2, an empty list, a mark
	PickleTail = "e."         // append what is above the mark, stop
	pickleLong = 0x8a         // a whole number of n bytes
)

// pickledLen is the most bytes that a point takes.
func pickledLen(p Point) int { return 1 + 4 + len(p.Path) + 2 + 8 + 9 + 2 }

// AppendPickle appends one message with its length before it, with as many of the
// points as [MaxMessage] allows, and returns how many those are. It is at least one:
// a path longer than that is not made by [Path]. Points whose value is no number are
// counted and not written.
func AppendPickle(dst []byte, points []Point) (out []byte, n int) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, PickleHead...)
	size := len(PickleHead) + len(PickleTail)
	for _, p := range points {
		if size += pickledLen(p); size > MaxMessage && n > 0 {
			break
		}
		n++
		if isSendable(p.Value) {
			dst = appendPickled(dst, p)
		}
	}
	dst = append(dst, PickleTail...)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, n
}

// appendPickled appends (path, (time, value)).
func appendPickled(dst []byte, p Point) []byte {
	dst = append(dst, 'X')
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.Path)))
	dst = append(dst, p.Path...)
	if p.Time == int64(int32(p.Time)) {
		dst = append(dst, 'J')
		dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(p.Time)))
	} else {
		dst = append(dst, pickleLong, 8)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Time))
	}
	dst = append(dst, 'G')
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(p.Value))
	return append(dst, 0x86, 0x86) // two pairs
}

// Segment makes any text one part of a path: letters, digits, '-' and '_' stay, all
// else becomes '_', so that it can neither end the part nor leave Carbon's directory.
// It is never empty and has a bounded length. Two texts may become one.
func Segment(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() == maxSegment {
			break
		}
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// Path joins parts, each made a [Segment], so a dot within a part becomes '_': split
// cpu.user before.
func Path(parts ...string) string {
	clean := make([]string, len(parts))
	for i, p := range parts {
		clean[i] = Segment(p)
	}
	return strings.Join(clean, ".")
}
