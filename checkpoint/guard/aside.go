package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysql"
)

// A journal decides what is set on a server, so it is believed only when it is
// what this package writes: a regular file of this user's, root's or of the one who called
// sudo, of a size that has a bound, with names and values that a recording changes. The
// owner of the directory is not asked: who makes it first, below /tmp, would be believed.

// largestJournal is far more than a server's changes and a thousand holders take.
const largestJournal = 4 << 20

// mostHolders and mostChanges bound what is walked through.
const (
	mostHolders = 10_000
	mostChanges = 10_000
)

// errForeign means that what lies in a journal's place is none.
var errForeign = errors.New("it is none of kasoku's journals")

// read returns the text of a journal. It follows no link, waits for no pipe and
// reads no more than a journal can have.
func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("journal %s: a symbolic link: %w", path, errForeign)
	}
	if err != nil {
		return nil, wrap(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, wrap(err)
	}
	why := ""
	switch {
	case !st.Mode().IsRegular():
		why = "no regular file"
	case !private.Mine(st):
		why = "owned by another user"
	case st.Size() > largestJournal:
		why = fmt.Sprintf("%d bytes long", st.Size())
	}
	if why != "" {
		return nil, fmt.Errorf("journal %s: %s: %w", path, why, errForeign)
	}
	text, err := io.ReadAll(io.LimitReader(f, largestJournal))
	if err != nil {
		return nil, wrap(err)
	}
	return text, nil
}

// parse reads the text of a journal, and refuses one that says what no recording
// ever changed.
func parse(path string, text []byte) (*Journal, error) {
	j := new(Journal)
	err := json.Unmarshal(text, j)
	if err == nil {
		err = j.check()
	}
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w: %w", path, errForeign, err)
	}
	return j, nil
}

// check refuses what no recording ever changed.
func (j *Journal) check() error {
	if len(j.Changes) > mostChanges || len(j.Holders) > mostHolders {
		return fmt.Errorf("%d changes, %d holders", len(j.Changes), len(j.Holders))
	}
	for i, c := range j.Changes {
		if err := c.Check(); err != nil {
			return err
		}
		if slices.ContainsFunc(j.Changes[:i], func(x mysql.Changed) bool { return x.Name == c.Name }) {
			return fmt.Errorf("%q stands there twice", c.Name)
		}
	}
	return nil
}

// setAsideExtension is appended to the name of a file that lay in a journal's place.
const setAsideExtension = ".bad"

// setAside moves what cannot be a journal out of its place, so that it does not block
// a recording, and returns where it is now. The caller has the lock.
func (f *file) setAside(now time.Time) (string, error) {
	to := strings.TrimSuffix(f.path, extension) + "-" + now.UTC().Format("20060102-150405.000000") + setAsideExtension
	if err := unix.Renameat2(unix.AT_FDCWD, f.path, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE); err != nil {
		return "", wrap(&os.LinkError{Op: "set aside", Old: f.path, New: to, Err: err})
	}
	return to, nil
}

// An Aside is what lay in a journal's place, was none and was set aside.
type Aside struct {
	Path string // where it is now
	Why  string
}

// Aside returns what was set aside since the last call. What a recording of before
// may have changed on the server is not known any more.
func (h *Hold) Aside() []Aside {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.aside
	h.aside = nil
	return out
}

// setAside makes room for a journal where something else lies, and keeps why.
func (h *Hold) setAside(f *file, why error) error {
	to, err := f.setAside(time.Now())
	if err != nil {
		return errors.Join(why, err)
	}
	h.aside = append(h.aside, Aside{to, why.Error()})
	return nil
}
