package lines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/liar"
)

// TestSwappedLog: who owns a log's directory puts a link to another user's file in the
// log's place, and a hard link in that of a rotated one. Nothing of that file is read,
// what was written before is, and the note says why.
func TestSwappedLog(t *testing.T) {
	eve, ann := liar.Dir(t, liar.Eve), liar.Dir(t, liar.Ann)
	const private = "private line of ann\n"
	path := liar.Write(t, eve+"/access.log", "before\n", liar.Eve, 0o644)
	secret := liar.Write(t, ann+"/secret", private, liar.Ann, 0o600)
	m, err := MarkEnd(path)
	if err != nil {
		t.Fatal(err)
	}
	tail, err := NewTail(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	growth := Follow(m)
	defer growth.Close()

	liar.Write(t, path, "before\nduring\n", liar.Eve, 0o644)
	liar.Write(t, secret, private, liar.Ann, 0o600) // later than the log
	for _, step := range []error{
		os.Rename(path, path+".2"),
		os.Link(secret, path+".1"),
		os.Symlink(secret, path), os.Lchown(path, liar.Eve, liar.Eve),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	w, err := Since(m)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var got []string
	for w.Scan() {
		got = append(got, string(w.Bytes()))
	}
	if text := strings.Join(got, "\n"); w.Err() != nil || text != "during" {
		t.Errorf("since: %q, %v", text, w.Err())
	}
	if !strings.Contains(w.Note(), path+" is not read: ") || !strings.Contains(w.Note(), path+".1 is not read: ") {
		t.Errorf("note: %q", w.Note())
	}
	got = nil
	if _, err := tail.Next(func(line []byte) { got = append(got, string(line)) }); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(got, "\n"); text != "during" || !strings.Contains(tail.Note(), "is not read: ") {
		t.Errorf("tail: %q, note %q", text, tail.Note())
	}
	if n, err := growth.Bytes(); err != nil || n > int64(len("during\n")) {
		t.Errorf("growth: %d, %v", n, err)
	}
	for _, name := range []string{path, path + ".1"} {
		if m, err := MarkEnd(name); err == nil {
			t.Errorf("%s is marked: %+v", filepath.Base(name), m)
		}
		if in, err := Inputs([]string{name}); err == nil {
			t.Errorf("%s is an input: %+v", filepath.Base(name), in)
		}
	}
}
