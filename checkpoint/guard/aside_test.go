package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestForeign: what lies in a journal's place and is none is neither believed nor
// waited for, and is set aside with all that is in it.
func TestForeign(t *testing.T) {
	f := func(what string, put func(path string) error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "mariadb-x.json")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		lock, err := open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.close()
		if j, err := lock.load(); !errors.Is(err, errForeign) || j != nil {
			t.Errorf("%s: %+v, %v", what, j, err)
			return
		}
		to, err := lock.setAside(time.Now())
		if err != nil || !strings.HasSuffix(to, setAsideExtension) {
			t.Errorf("%s: set aside as %q, %v", what, to, err)
		}
		if j, err := lock.load(); j != nil || err != nil {
			t.Errorf("%s: then %+v, %v", what, j, err)
		}
		if found, err := Journals(filepath.Dir(path)); len(found) != 0 || err != nil {
			t.Errorf("%s: still found %+v, %v", what, found, err)
		}
	}
	text := func(s string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(s), 0o600) }
	}
	f("empty", text(""))
	f("cut short", text(`{"server":{"Flavor":"MariaDB"},"changes":[{"Name":"slow_que`))
	f("bytes", text("\x00\xff\x00"))
	f("a list", text("[]"))
	f("a path to write", text(`{"changes":[{"Name":"general_log_file","Before":"/etc/cron.d/x","During":"y"}]}`))
	f("a statement", text(`{"changes":[{"Name":"slow_query_log","Before":"OFF; DROP DATABASE shop","During":"ON"}]}`))
	f("two of a name", text(`{"changes":[{"Name":"slow_query_log","Before":"OFF","During":"ON"},{"Name":"slow_query_log","Before":"ON","During":"ON"}]}`))
	f("a directory", func(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) })
	f("a pipe", func(path string) error { return unix.Mkfifo(path, 0o600) })
	f("a link", func(path string) error {
		other := filepath.Join(filepath.Dir(path), "other")
		return errors.Join(os.WriteFile(other, []byte("{}"), 0o600), os.Symlink(other, path))
	})
	f("a gigabyte", func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("{"), 0o600), os.Truncate(path, 1<<30))
	})
	if os.Getuid() == 0 {
		// Root believes root alone; so a journal of somebody else's says nothing to it.
		f("of another user", func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Chown(path, 65534, 65534))
		})
		f("of another user, whose directory it is", func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Chown(path, 65534, 65534),
				os.Chown(filepath.Dir(path), 65534, 65534))
		})
	}
}

// TestForeignNew: neither does what lies where a journal is written first.
func TestForeignNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mariadb-x.json")
	if err := os.MkdirAll(filepath.Join(path+newExtension, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if text, err := read(path); err != nil || string(text) != "{}" {
		t.Errorf("%q, %v", text, err)
	}
}
