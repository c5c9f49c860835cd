package foreign

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriter: what a file of another user's names is read with that user's rights.
func TestWriter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root alone reads files that others may not")
	}
	p, err := Hold(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	dir, err := os.MkdirTemp("", "kasoku-writer-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const other, third = 41001, 41002
	f := func(mode os.FileMode, uid, gid int, wantMode os.FileMode, readable bool) {
		t.Helper()
		path, private := filepath.Join(dir, "site.conf"), filepath.Join(dir, "private")
		for name, perm := range map[string]os.FileMode{dir: 0o755, path: mode, private: wantMode} {
			if name != dir {
				if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(name, perm); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
		file, err := p.ReadFile(t.Context(), path, 10)
		if err != nil {
			t.Fatal(err)
		}
		as := p.WriterOf(file, nil)
		got, err := p.For(as).ReadFile(t.Context(), private, 10)
		if (err == nil && string(got.Data) == "x") != readable {
			t.Errorf("%v %d:%d names a file of mode %v: %q, %v", mode, uid, gid, wantMode, got.Data, err)
		}
		found, _ := p.For(as).Glob(t.Context(), filepath.Join(dir, "*"))
		if len(found) != 2 {
			t.Errorf("%v %d:%d lists %q", mode, uid, gid, found)
		}
		if more := p.WriterOf(File{UID: 0, Mode: 0o644}, as); (more == nil) != (as == nil) {
			t.Errorf("%v %d:%d includes root's file: %+v", mode, uid, gid, more)
		}
	}
	f(0o644, 0, 0, 0o600, true)
	f(0o664, 0, 0, 0o600, true)
	f(0o644, other, other, 0o644, true)
	f(0o644, other, other, 0o600, false)
	f(0o600, other, other, 0o640, false)
	f(0o646, 0, 0, 0o600, false)
	f(0o664, 0, third, 0o600, false)
	f(0o664, 0, third, 0o644, true)
}
