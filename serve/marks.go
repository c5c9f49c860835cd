package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/private"
)

// A Mark is what a person says of a finding, in whichever run it is found.
type Mark struct {
	Finding string    `json:"finding"` // id and object, as pages name them: IDX-01 table shop.items
	Mark    string    `json:"mark"`    // of markWords
	At      time.Time `json:"at"`
}

// markWords are what can be said of a finding; none takes a mark back.
var markWords = []string{"done", "not now"}

const (
	marksFile = "marks.json"
	// mostMarks bounds the file; the oldest give way.
	mostMarks   = 1000
	mostFinding = 300     // bytes
	mostMarked  = 4 << 20 // JSON takes up to six bytes for one
)

// marks are those of the runs of a directory, in a file beside them.
type marks struct {
	path string
	mu   sync.Mutex
}

func newMarks(dirs []string) *marks {
	m := &marks{}
	for _, dir := range dirs {
		if st, err := os.Stat(dir); m.path == "" && err == nil && st.IsDir() {
			m.path = filepath.Join(dir, marksFile)
		}
	}
	return m
}

// all reads the marks; where there is no file, none. What is no mark of these is left out: the file is anyone's who
// may write the runs.
func (m *marks) all() ([]Mark, error) {
	out := []Mark{}
	f, err := os.OpenFile(m.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0) // a pipe must not hang
	if m.path == "" || errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, fmt.Errorf("read marks: %s is no file", m.path)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostMarked))
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read marks: %s: %w", m.path, err)
	}
	return slices.DeleteFunc(out, func(x Mark) bool {
		return !slices.Contains(markWords, x.Mark) || x.Finding == "" || len(x.Finding) > mostFinding
	}), nil
}

// set says of a finding what a person says, and replaces the file in one step.
func (m *marks) set(x Mark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.all()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Mark) bool { return o.Finding == x.Finding })
	if x.Mark != "" {
		all = append(all, x)
	}
	text, err := json.MarshalIndent(all[max(0, len(all)-mostMarks):], "", " ")
	if err != nil {
		return err
	}
	if err := private.Output.WriteFile(m.path, append(text, '\n')); err != nil {
		return fmt.Errorf("write marks: %w", err)
	}
	return nil
}

// marksJSON are all marks.
func (a api) marksJSON(w http.ResponseWriter, _ *http.Request) error {
	all, err := a.marks.all()
	if err != nil {
		return err
	}
	return sendJSON(w, func(to io.Writer) error {
		return json.NewEncoder(to).Encode(map[string]any{"marks": all, "allowed": a.Marked != nil, "words": markWords})
	})
}

func (a api) postMark(w http.ResponseWriter, r *http.Request) error {
	if a.Marked == nil || a.marks.path == "" {
		return errForbidden
	}
	if err := r.ParseForm(); err != nil {
		return &askedError{"what was sent is no form", ""}
	}
	x := Mark{r.PostForm.Get("finding"), r.PostForm.Get("mark"), a.Now().UTC().Truncate(time.Second)}
	switch {
	case x.Finding == "" || len(x.Finding) > mostFinding || strings.ContainsFunc(x.Finding, func(c rune) bool { return c < ' ' }):
		return &askedError{"finding is missing, or none", "send finding=IDX-01 table shop.items as a form"}
	case x.Mark != "" && !slices.Contains(markWords, x.Mark):
		return &askedError{fmt.Sprintf("a finding is not marked %q", x.Mark), strings.Join(markWords, ", ") + "; empty takes it back"}
	}
	if err := a.marks.set(x); err != nil {
		return err
	}
	a.Marked(x)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
