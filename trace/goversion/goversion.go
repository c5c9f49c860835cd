// Package goversion knows where a goroutine keeps its number and that of the goroutine which
// started it, in programs of each version of Go: fields of the runtime that no symbol names in a
// stripped program, and that move between versions.
package goversion

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
)

// Offsets are those of three fields of runtime.g: goid, parentGoid and startpc, the function
// that the goroutine began with.
type Offsets struct{ Goid, Parent, Start int }

// Oldest and Newest are the versions between which the offsets are known: 1.Oldest has
// runtime.g.parentGoid first.
const (
	Oldest = 21
	Newest = 27
)

// table has the offsets by minor version, the same on amd64 and arm64. They are those of the
// debugging information of programs that the last release of each built.
var table = [...]Offsets{
	21 - Oldest: {152, 272, 296}, 22 - Oldest: {152, 272, 296}, 23 - Oldest: {160, 280, 304}, 24 - Oldest: {160,
		280, 304},
	25 - Oldest: {152, 272, 296}, 26 - Oldest: {152, 280, 304}, 27 - Oldest: {152, 280, 304},
}

// Of returns the offsets in programs that a version built, "go1.26.8"; false when they are
// not known.
func Of(version string) (Offsets, bool) {
	rest, ok := strings.CutPrefix(version, "go1.")
	if !ok {
		return Offsets{}, false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	minor, err := strconv.Atoi(rest[:end])
	if err != nil || minor < Oldest || minor > Newest {
		return Offsets{}, false
	}
	return table[minor-Oldest], true
}

const mostProgram = 1 << 30

// ErrOther is returned for a program that Go did not build.
var ErrOther = errors.New("no program of Go")

// OfProcess returns the version of Go that built the program of a process, and its offsets.
func OfProcess(ctx context.Context, pid int) (version string, o Offsets, err error) {
	p, err := foreign.Hold(pid)
	if err != nil {
		return "", o, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	version, err = foreign.ReadExe(ctx, p, mostProgram, func(r io.ReaderAt, size int64) (string, error) {
		info, err := buildinfo.Read(io.NewSectionReader(r, 0, size))
		if err != nil {
			return "", ErrOther
		}
		return info.GoVersion, nil
	})
	if err != nil {
		return "", o, err
	}
	o, known := Of(version)
	if !known {
		return version, o, fmt.Errorf("where %s keeps the numbers of goroutines is not known", version)
	}
	return version, o, nil
}
