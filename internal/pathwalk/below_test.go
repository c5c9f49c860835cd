package pathwalk_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/test/liar"
)

// TestOpenBelow: below a directory no link is followed, whoever made it, and nothing is read that another has put
// there.
func TestOpenBelow(t *testing.T) {
	u := newUsers(t)
	u.dir(u.eve+"/logs", liar.Eve, 0o755)
	u.dir(u.eve+"/logs/app", liar.Eve, 0o755)
	liar.Write(t, u.eve+"/logs/app/access.log", "line of eve", liar.Eve, 0o600)
	u.link(u.eve+"/logs", u.eve+"/named", liar.Eve) // on the way to the directory, which is the user's word
	u.link(u.eve+"/access.log", u.eve+"/logs/own.log", liar.Eve)
	u.link(u.ann+"/access.log", u.eve+"/logs/ann.log", liar.Eve)
	u.link("/etc/passwd", u.eve+"/logs/root.log", 0)
	u.link(u.ann, u.eve+"/logs/dir", liar.Eve)
	u.hardLink(u.ann+"/access.log", u.eve+"/logs/hard.log")
	liar.Write(t, u.eve+"/logs/theirs.log", private, liar.Ann, 0o600)
	f := func(dir, name string, good bool) {
		t.Helper()
		file, err := pathwalk.OpenBelow(dir, name)
		if good {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			defer file.Close()
			if b, err := io.ReadAll(file); err != nil || string(b) != "line of eve" {
				t.Errorf("%s: %q, %v", name, b, err)
			}
			return
		}
		if refused := new(pathwalk.RefusedError); !errors.As(err, &refused) || refused.Path != filepath.Join(dir, name) || refused.Hint() == "" {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = file.Close()
		}
	}
	f(u.eve+"/logs", "app/access.log", true)
	f(u.eve+"/named", "app/access.log", true)
	for _, name := range []string{"own.log", "ann.log", "root.log", "dir/access.log", "hard.log", "theirs.log"} {
		f(u.eve+"/logs", name, false)
	}
	if _, err := pathwalk.OpenBelow(u.eve+"/logs", "none.log"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}
