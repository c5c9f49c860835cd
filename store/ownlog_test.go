package store

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku/store/ownlog"
)

// plantJournal puts a journal beside a run file whose tail names a file as the journal of
// several databases, as sqlite.org/fileformat.html, "The Rollback Journal", and
// writeSuperJournal of SQLite's pager.c have it.
func plantJournal(t *testing.T, path, victim string) {
	t.Helper()
	sum := uint32(0)
	for _, b := range []byte(victim) {
		sum += uint32(b)
	}
	tail := append([]byte{1}, make([]byte, 4)...)
	tail = append(tail, victim...)
	tail = binary.BigEndian.AppendUint32(tail, uint32(len(victim)))
	tail = binary.BigEndian.AppendUint32(tail, sum)
	mustWrite(t, path+"-journal", append(tail, 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7))
}

// TestPlantedJournal: opening a run, editing, copying and removing it delete nothing that a
// journal beside it names.
func TestPlantedJournal(t *testing.T) {
	for name, do := range map[string]func(path string) error{
		"open":   func(path string) error { _, err := Open(path); return err },
		"list":   func(path string) error { _, err := List(filepath.Dir(path)); return err },
		"remove": Remove,
		"copy":   func(path string) error { return Copy(path, path+".copy") },
		"edit": func(path string) error {
			e, err := Edit(path)
			if err != nil {
				return err
			}
			return e.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, victim := finished(t), filepath.Join(t.TempDir(), "victim")
			mustWrite(t, victim, []byte("somebody's"))
			plantJournal(t, path, victim)
			err := do(path)
			if _, gone := os.Lstat(victim); gone != nil {
				t.Errorf("the journal's file: %v; %s: %v", gone, name, err)
			}
			if name == "open" && err != nil {
				t.Error(err)
			}
		})
	}
}

// TestForeignLogs: a journal or a log beside a run that is another user's, or has a second
// name, is no part of it.
func TestForeignLogs(t *testing.T) {
	makeForeign := map[string]func(path string) error{
		"two names": func(path string) error { return os.Link(path, filepath.Join(t.TempDir(), "link")) },
	}
	if os.Geteuid() == 0 {
		makeForeign["another user's"] = func(path string) error { return os.Chown(path, 61184, 61184) }
	}
	for name, foreign := range makeForeign {
		for _, suffix := range []string{ownlog.JournalSuffix, ownlog.WALSuffix} {
			path := finished(t)
			want, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			content := []byte("\xd9\xd5\x05\xf9 a journal")
			if suffix == ownlog.WALSuffix {
				content = mustRead(t, crash(t, t.TempDir(), 3)+suffix)
			}
			mustWrite(t, path+suffix, content)
			if err := foreign(path + suffix); err != nil {
				t.Fatal(err)
			}
			got, err := Open(path)
			if err != nil {
				t.Errorf("%s, %s: %v", name, suffix, err)
				continue
			}
			if got.Run.ID != want.Run.ID || len(got.Series) != len(want.Series) {
				t.Errorf("%s, %s: run %q with %d series, was %q with %d", name, suffix, got.Run.ID, len(got.Series),
					want.Run.ID, len(want.Series))
			}
		}
	}
}
