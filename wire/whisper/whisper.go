// Package whisper reads the files in which carbon keeps its series.
//
// The one idea: a file is a ring of fixed slots, so a moment has one place where it
// can be, and the newest values are found by reading the header and those places
// alone, however long the archive is. Only the points of the finest archive are read.
//
// # Units and clock
//
// Times are Unix seconds, cut to the archive's step; values are as they were sent.
//
// Sources: whisper.py 1.1: all numbers are big endian; a header of aggregation,
// longest retention, xFilesFactor and number of archives, 4 bytes each; for each
// archive offset, seconds per point and points; then points of a u32 time and an
// f64 value. The first slot that was ever written is at the archive's begin; a slot
// with the time 0 never was. carbon.util.TaggedSeries.encode of carbon 1.1 for the
// names of files.
package whisper

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Suffix ends the name of a file.
const Suffix = ".wsp"

const (
	headerSize = 16 + 12 // with the first archive's
	pointSize  = 12
	mostPoints = 10_000_000 // of an archive: 115 days by the second
)

// A Point is one value of a series.
type Point struct {
	Time  int64 // Unix seconds, cut to the archive's step
	Value float64
}

// Path returns where carbon keeps a metric, below its directory of such files. A
// metric with tags is found by the hash of its name.
func Path(metric string) string {
	if strings.Contains(metric, ";") {
		sum := sha256.Sum256([]byte(metric))
		h := hex.EncodeToString(sum[:])
		return filepath.Join("_tagged", h[:3], h[3:6], h+Suffix)
	}
	return filepath.FromSlash(strings.ReplaceAll(metric, ".", "/")) + Suffix
}

// An archive is the finest one of a file.
type archive struct{ offset, step, points int64 }

// size is that of the points.
func (a archive) size() int64 { return a.points * pointSize }

func openFile(path string) (*os.File, archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, archive{}, err
	}
	a, err := finestArchive(f)
	if err != nil {
		f.Close()
		return nil, archive{}, err
	}
	return f, a, nil
}

// finestArchive reads the header.
func finestArchive(f *os.File) (a archive, err error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return a, errors.New("no header")
	}
	field := func(at int) int64 { return int64(binary.BigEndian.Uint32(head[at:])) }
	a = archive{field(16), field(20), field(24)}
	if field(12) == 0 || a.offset < headerSize || a.step == 0 || a.points == 0 || a.points > mostPoints {
		return a, errors.New("no header")
	}
	info, err := f.Stat()
	if err != nil {
		return a, err
	}
	if a.offset+a.size() > info.Size() {
		return a, fmt.Errorf("%d points from byte %d do not fit a file of %d", a.points, a.offset, info.Size())
	}
	return a, nil
}

func pointOf(b []byte) Point {
	return Point{int64(binary.BigEndian.Uint32(b)), math.Float64frombits(binary.BigEndian.Uint64(b[4:]))}
}

// Read returns all points of a file, in the order of time. A slot that an older
// round of the ring has left is a point too. A missing file is an error that is
// fs.ErrNotExist.
func Read(path string) ([]Point, error) {
	f, a, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("whisper file: %w", err)
	}
	defer f.Close()
	b := make([]byte, a.size())
	if _, err := f.ReadAt(b, a.offset); err != nil {
		return nil, fmt.Errorf("whisper file: %w", err)
	}
	var out []Point
	for ; len(b) > 0; b = b[pointSize:] {
		if p := pointOf(b); p.Time != 0 {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Point) int { return cmp.Compare(a.Time, b.Time) })
	return out, nil
}

// Latest returns the newest point from since to now, in Unix seconds; false when there
// is none. It reads at most one slot for each step between them.
func Latest(path string, since, now int64) (Point, bool, error) {
	f, a, err := openFile(path)
	if err != nil {
		return Point{}, false, fmt.Errorf("whisper file: %w", err)
	}
	defer f.Close()
	var slot [pointSize]byte
	if _, err := f.ReadAt(slot[:], a.offset); err != nil {
		return Point{}, false, fmt.Errorf("whisper file: %w", err)
	}
	base := pointOf(slot[:]).Time
	if base == 0 {
		return Point{}, false, nil // nothing was written yet
	}
	at := now - now%a.step
	for range a.points {
		if at < since-since%a.step {
			break
		}
		i := (at - base) / a.step % a.points
		if i < 0 {
			i += a.points
		}
		if _, err := f.ReadAt(slot[:], a.offset+i*pointSize); err != nil {
			return Point{}, false, fmt.Errorf("whisper file: %w", err)
		}
		if p := pointOf(slot[:]); p.Time == at {
			return p, true, nil
		}
		at -= a.step
	}
	return Point{}, false, nil
}

// mostArchives bounds those of a file.
const mostArchives = 16

// Slots are those of a file's finest archive that have a point, of some of the newest ones.
type Slots struct {
	Step       int64   // seconds between two slots
	Number     int64   // of slots in the archive
	Retentions string  // of all archives, as storage-schemas.conf has them: 10s:6h,1m:7d
	Times      []int64 // of those that have a point, Unix seconds, in their order
}

// NewestSlots reads the newest slots up to now, in Unix seconds, so many at most.
func NewestSlots(path string, now int64, most int) (Slots, error) {
	f, a, err := openFile(path)
	if err != nil {
		return Slots{}, fmt.Errorf("whisper file: %w", err)
	}
	defer f.Close()
	s := Slots{Step: a.step, Number: a.points}
	if s.Retentions, err = retentions(f); err != nil {
		return Slots{}, fmt.Errorf("whisper file: %w", err)
	}
	n := min(int64(most), a.points)
	buf := make([]byte, n*pointSize)
	if _, err := f.ReadAt(buf[:pointSize], a.offset); err != nil {
		return Slots{}, fmt.Errorf("whisper file: %w", err)
	}
	base := pointOf(buf).Time
	if base == 0 {
		return s, nil // nothing was written yet
	}
	newest := now - now%a.step
	oldest := newest - (n-1)*a.step
	at := (oldest - base) / a.step % a.points // where the oldest is; the ring goes on at its begin
	if at < 0 {
		at += a.points
	}
	first := min(n, a.points-at)
	for _, part := range []struct{ from, slots, into int64 }{{at, first, 0}, {0, n - first, first}} {
		b := buf[part.into*pointSize : (part.into+part.slots)*pointSize]
		if _, err := f.ReadAt(b, a.offset+part.from*pointSize); err != nil && len(b) > 0 {
			return Slots{}, fmt.Errorf("whisper file: %w", err)
		}
	}
	for i := range n {
		if want := oldest + i*a.step; pointOf(buf[i*pointSize:]).Time == want {
			s.Times = append(s.Times, want)
		}
	}
	return s, nil
}

// retentions reads how long each archive is.
func retentions(f *os.File) (string, error) {
	var count [4]byte
	if _, err := f.ReadAt(count[:], 12); err != nil {
		return "", errors.New("no header")
	}
	n := binary.BigEndian.Uint32(count[:])
	if n > mostArchives {
		return "", fmt.Errorf("%d archives", n)
	}
	head := make([]byte, 12*n)
	if _, err := f.ReadAt(head, 16); err != nil {
		return "", errors.New("no header")
	}
	var out []string
	for ; len(head) > 0; head = head[12:] {
		step, points := int64(binary.BigEndian.Uint32(head[4:])), int64(binary.BigEndian.Uint32(head[8:]))
		out = append(out, Retention(step, points))
	}
	return strings.Join(out, ","), nil
}

// Retention is an archive as storage-schemas.conf has it: 10s:6h.
func Retention(step, points int64) string { return lasting(step) + ":" + lasting(step*points) }

// units are those of storage-schemas.conf, the largest first.
func units() []unit {
	return []unit{{"y", 365 * 86400}, {"w", 7 * 86400}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
}

// A unit is one of time.
type unit struct {
	name string
	long int64 // seconds
}

// lasting is so many seconds in the largest unit that divides them.
func lasting(seconds int64) string {
	for _, u := range units() {
		if seconds > 0 && seconds%u.long == 0 {
			return strconv.FormatInt(seconds/u.long, 10) + u.name
		}
	}
	return strconv.FormatInt(seconds, 10) + "s"
}

// Lasting is how many seconds a time as [Retention] has it is; 0 of what is none.
func Lasting(text string) int64 {
	for _, u := range units() {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			if n, err := strconv.ParseInt(number, 10, 32); err == nil && n > 0 {
				return n * u.long
			}
		}
	}
	return 0
}
