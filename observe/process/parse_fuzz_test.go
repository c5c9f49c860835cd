package process

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/observe/procfile"
)

// FuzzFiles feeds every parser with any text: none may panic, an error leaves
// nothing, and a name is a part of the text.
func FuzzFiles(f *testing.F) {
	archive, err := txtar.ParseFile(fixture)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		name, _, _ := procstat.Parse(text)
		if len(name) > len(text) || len(withoutWork(name)) > len(name) {
			t.Fatalf("name %q", name)
		}
		if io, err := parseIO(text); err != nil && io != (ioStat{}) {
			t.Fatalf("%+v with %v", io, err)
		}
		if n, ok := parseLimit(text, limitFiles); !ok && n != 0 {
			t.Fatal(n)
		}
		_, _ = parseSched(text)
		_, _ = parseHostCPU(text)
		if sw, ok := parseSwitches(text); !ok && sw != (switchStat{}) {
			t.Fatal(sw)
		}
		for _, r := range procfile.Printable(fullName(name, string(text))) {
			if r < ' ' || r == 0x7f {
				t.Fatalf("control character in the name of %q", text)
			}
		}
	})
}
