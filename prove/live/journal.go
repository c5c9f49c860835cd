package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/prove"
)

// A journal is what was changed and what came of it.
type journal struct {
	Server mysql.Identity // whose changes these are
	Open   *change        `json:",omitempty"` // in force, and not decided on
	Kept   []change       `json:",omitempty"` // in their order
	First  float64        // score before all of them
	Steps  []step         `json:",omitempty"`
}

// A change is what one step makes.
type change struct {
	Epoch    mysql.Epoch     // of the server when it was made
	Database []mysql.Changed `json:",omitempty"`
	Files    []file          `json:",omitempty"`
}

// A file is one that was edited.
type file struct{ Path, Before, During string }

// A step is a [prove.Step] without its runs.
type step struct {
	Finding, Title string
	Object         kasoku.Object
	Edits          []kasoku.Edit
	Before, After  float64
	Outcome, Why   string
	Runs           []string // ids
}

// most bounds a journal, in bytes: it holds texts of files of nginx.
const most = 16 << 20

// errJournal means that what lies in the journal's place is none, or is not this user's.
var errJournal = errors.New("it is no journal of an autopilot of yours")

// readJournal returns the journal, an empty one where there is none. What stands in it is set
// on a server and written into files, so it is the user's own, and says nothing else than an
// autopilot does.
func readJournal(path string) (*journal, error) {
	f, err := pathwalk.OpenNamed(path)
	if errors.Is(err, fs.ErrNotExist) {
		return new(journal), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || !private.Mine(st) || st.Size() > most {
		return nil, fmt.Errorf("%s: %w", path, errJournal)
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, err
	}
	j, err := parseJournal(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errJournal, err)
	}
	return j, nil
}

// parseJournal reads the text of a journal, and refuses changes that no autopilot makes.
func parseJournal(text []byte) (*journal, error) {
	j := new(journal)
	if err := json.Unmarshal(text, j); err != nil {
		return nil, err
	}
	for _, ch := range j.changes() {
		for _, c := range ch.Database {
			if err := c.Check(); err != nil {
				return nil, err
			}
		}
	}
	return j, nil
}

// changes returns all that is in force, in its order.
func (j *journal) changes() []change {
	if j.Open == nil {
		return j.Kept
	}
	return append(slices.Clone(j.Kept), *j.Open)
}

// save writes the journal, or removes it when it says nothing.
func (s *Service) save() error {
	if s.j.Open == nil && len(s.j.Kept)+len(s.j.Steps) == 0 {
		if err := os.Remove(s.o.Journal); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.MarshalIndent(s.j, "", " ")
	if err != nil {
		return err
	}
	return private.State.Replace(s.o.Journal, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// Earlier returns what autopilots did here before; nil when none did.
func (s *Service) Earlier() *prove.Story {
	if len(s.j.Steps) == 0 {
		return nil
	}
	out := &prove.Story{First: s.j.First}
	for i, x := range s.j.Steps {
		one := prove.Step{Number: i + 1, Finding: kasoku.Finding{ID: x.Finding, Title: x.Title, Object: x.Object}, Edits: x.Edits,
			Before: x.Before, After: x.After, Outcome: x.Outcome, Why: x.Why}
		for _, id := range x.Runs {
			one.Runs = append(one.Runs, &kasoku.Recording{Run: kasoku.Run{ID: id}})
		}
		out.Steps = append(out.Steps, one)
	}
	return out
}

// Decided writes down what came of the last step, and keeps what it changed when that is kept.
func (s *Service) Decided(ctx context.Context, story *prove.Story) error {
	s.j.First, s.j.Steps = story.First, s.j.Steps[:0]
	for i := range story.Steps {
		x := &story.Steps[i]
		one := step{x.Finding.ID, x.Finding.Title, x.Finding.Object, x.Edits, x.Before, x.After, x.Outcome, x.Why, nil}
		for _, r := range x.Runs {
			one.Runs = append(one.Runs, r.Run.ID)
		}
		s.j.Steps = append(s.j.Steps, one)
	}
	keep := s.j.Open != nil && story.Steps[len(story.Steps)-1].Outcome == prove.Kept
	if keep {
		s.j.Kept, s.j.Open = append(s.j.Kept, *s.j.Open), nil
	}
	err := s.save()
	if err == nil && keep && s.at != nil { // from here on no one else takes it back
		err = errors.Join(s.at.hold.Leave(ctx), s.at.close(true))
		s.at = nil
	}
	return err
}
