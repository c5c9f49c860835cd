package graphite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/wire/whisper"
)

const (
	// lookTicks is how many ticks of a second pass between two looks at which files there are: what a relay
	// drops has none before it happens.
	lookTicks = 5
	// oldest is how far back a value read from a file may lie: a server that writes
	// slower than this has other troubles.
	oldest = 15 * time.Minute
	// deepest is how deep files may lie below the servers' directories.
	deepest = 6
)

// A file is one that a server writes its values to.
type file struct {
	path    string
	changed time.Time
}

// storage reads the newest value of each file that has changed.
func (s *Source) storage(_ context.Context, f *kasoku.Frame) error {
	if s.ticks%s.looks == 0 {
		s.noFiles = s.findFiles()
	}
	if s.noFiles != nil {
		return s.noFiles
	}
	now := s.now()
	if s.sampled.began == 0 {
		s.sampled.began = now.Unix()
	}
	if s.looks == lookTicks && s.ticks%slotTicks == slotTicks-1 { // who watches what becomes of a load looks more often
		s.sampled.look(f, now)
	}
	var errs []error
	for metric, at := range s.files {
		info, err := os.Stat(at.path)
		if err != nil {
			delete(s.files, metric) // it is found again when it comes back
			continue
		}
		if info.ModTime().Equal(at.changed) {
			continue
		}
		p, ok, err := whisper.Latest(at.path, now.Add(-oldest).Unix(), now.Unix())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		at.changed = info.ModTime()
		if ok {
			s.keep(f, inFiles, metric, p)
		}
	}
	if len(errs) > 0 && len(errs) == len(s.files) {
		return errs[0]
	}
	return nil
}

// findFiles looks for the files below carbon/agents, relays and aggregator.
func (s *Source) findFiles() error {
	root := filepath.Join(s.o.Storage, "carbon")
	var refused error
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if path == root {
				return err
			}
			refused = err
			return nil
		}
		below, err := filepath.Rel(s.o.Storage, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if strings.Count(below, string(filepath.Separator)) >= deepest {
				return fs.SkipDir
			}
			return nil
		}
		name, ok := strings.CutSuffix(below, whisper.Suffix)
		metric := strings.ReplaceAll(name, string(filepath.Separator), ".")
		if !ok || !e.Type().IsRegular() || !s.wanted(metric) || s.files[metric] != nil {
			return nil
		}
		if len(s.files) >= mostSeries {
			return fs.SkipAll
		}
		s.files[metric] = &file{path: path}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(s.o.Storage); statErr == nil {
			return nil // a new server has not written any yet
		}
	}
	if err == nil && len(s.files) == 0 {
		err = refused
	}
	if err != nil {
		return fmt.Errorf("carbon's files: %w", err)
	}
	return nil
}

// wanted reports whether a metric is of a server that is asked for.
func (s *Source) wanted(metric string) bool {
	instance, _, ok := split(metric)
	if !ok {
		return false
	}
	if len(s.o.Agents) == 0 {
		return true
	}
	for _, a := range s.o.Agents {
		if instance == a {
			return true
		}
	}
	return false
}
