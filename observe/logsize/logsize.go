// Package logsize is the source "log": how long given log files are.
//
// The one idea: what stands in a log between two offsets was written between the
// two ticks that saw them. With that, lines of a log that has no times of its
// own still find their second. Sizes are of the file that has the path at the
// moment; when another file takes the path, or the file becomes shorter, an
// event says so.
//
// A file that is missing has no sample and is no error: it may be made later. One
// that may not be looked at gives a warning.
//
// Source: stat(2).
package logsize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
)

// Name is the name of the source.
const Name = "log"

// A Source watches files. It is not safe for concurrent use.
type Source struct {
	files  []file
	events []kasoku.Event
	warns  []kasoku.Warning
}

// A file is a path and what had it at the tick before.
type file struct {
	path   string
	seen   bool
	device uint64
	inode  uint64
	size   int64
	warned bool
}

// New returns a source for the paths. A path that is given twice is watched
// once. Nothing is opened.
func New(paths ...string) *Source {
	s := &Source{}
	for _, p := range paths {
		if p != "" && !slices.ContainsFunc(s.files, func(f file) bool { return f.path == p }) {
			s.files = append(s.files, file{path: p})
		}
	}
	return s
}

// Name returns "log".
func (s *Source) Name() string { return Name }

// Collect looks at every file. It does not fail.
func (s *Source) Collect(_ context.Context, f *kasoku.Frame) error {
	for i := range s.files {
		s.look(&s.files[i], f)
	}
	return nil
}

func (s *Source) look(l *file, f *kasoku.Frame) {
	st, err := pathwalk.Stat(l.path)
	if errors.Is(err, unix.ENOENT) {
		return
	}
	if err != nil {
		s.warn(l, err)
		return
	}
	now := file{
		path: l.path, seen: true, warned: l.warned,
		device: uint64(st.Dev), inode: st.Ino, size: st.Size,
	}
	switch {
	case !l.seen:
	case now.device != l.device || now.inode != l.inode:
		s.event("another file took the place of " + l.path + " at " + unit.Bytes(uint64(l.size)))
	case now.size < l.size:
		s.event(l.path + " was cut from " + unit.Bytes(uint64(l.size)) + " to " + unit.Bytes(uint64(now.size)))
	}
	*l = now
	f.Gauge(Size, l.path, "bytes", float64(l.size))
}

func (s *Source) event(text string) {
	s.events = append(s.events, kasoku.Event{Kind: "rotate", Text: text})
}

func (s *Source) warn(l *file, err error) {
	if l.warned {
		return
	}
	l.warned = true
	hint := "run as root or as a user who may enter its directory"
	if refused := new(pathwalk.RefusedError); errors.As(err, &refused) {
		hint = refused.Hint()
	}
	s.warns = append(s.warns, kasoku.Warning{
		Code: "log-size",
		Text: fmt.Sprintf("the growth of %s is missing: %s", l.path, err),
		Hint: hint,
	})
}

// Events returns the rotations since the last call.
func (s *Source) Events() []kasoku.Event {
	out := s.events
	s.events = nil
	return out
}

// Warnings returns which files could not be looked at.
func (s *Source) Warnings() []kasoku.Warning { return s.warns }
