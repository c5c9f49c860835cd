// Package whisper reads the files in which carbon keeps its series.
//
// The one idea: a file is a ring of fixed slots, so a moment has one place where it
// can be, and the newest values are found by reading the header and those places
// alone, however long the archive is. Only the finest archive is read.
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
