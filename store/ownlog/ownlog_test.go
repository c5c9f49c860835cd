package ownlog

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestOpenOwnLog: a log is neither opened through a link nor made where none is asked for.
func TestOpenOwnLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.kasoku")
	for _, name := range []string{path + JournalSuffix, path + WALSuffix} {
		if err := os.Symlink(path, name); err != nil {
			t.Fatal(err)
		}
		if _, own := statOwn(name, true); own {
			t.Errorf("%s is a link, and opened", name)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if _, own := statOwn(name, false); own {
			t.Errorf("%s is not there, and opened", name)
		}
		st, own := statOwn(name, true)
		if info, err := os.Lstat(name); !own || st.Ino == 0 || err != nil || info.Size() != 0 {
			t.Errorf("%s is not made: %v, %v, %v", name, own, info, err)
		}
	}
}

// TestStatOwn_AtOnce: a recorder and who reads its run open the log at the same time; each
// finds the one that the other has just made.
func TestStatOwn_AtOnce(t *testing.T) {
	for range 200 {
		path := filepath.Join(t.TempDir(), "run.kasoku"+WALSuffix)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, own := statOwn(path, true); !own {
					t.Error("a log of this user is called a stranger's")
				}
			})
		}
		all.Wait()
	}
}
