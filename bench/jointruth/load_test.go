package jointruth

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoad_Failure: what is no number is refused, with its file and its line.
func TestLoad_Failure(t *testing.T) {
	const request = "1732000000.500000\t%s\t1\t200\tGET\t/a\tx\ty\tid1\n"
	const event = "%s\t0\t5\t1\t1\t1\t\tid1\t0\n"
	write := func(dir, name, text string) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f := func(took, start, want string) {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "fps.txt"), []byte("0\tselect ?\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		write(dir, "access.log.gz", strings.ReplaceAll(request, "%s", "0.1")+strings.ReplaceAll(request, "%s", took))
		write(dir, "events.tsv.gz", strings.ReplaceAll(event, "%s", start))
		_, err := Load(dir)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s, %s: %v, want %q", took, start, err, want)
		}
	}
	f("0.1", "1732000000400000", "")
	f("nan", "1732000000400000", "access.log.gz: line 2")
	f("0.nan", "1732000000400000", "access.log.gz: line 2")
	f("0.1", "nan", "events.tsv.gz: line 1")
}
