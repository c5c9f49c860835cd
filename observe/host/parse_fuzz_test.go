package host

import (
	"testing"

	"golang.org/x/tools/txtar"

	kasoku "github.com/kasoku/kasoku"
)

// FuzzParts feeds every parser with any text: none may panic, and an error
// leaves no sample.
func FuzzParts(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/debian12.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i, p := range allParts() {
		for _, file := range archive.Files {
			if file.Name == "proc/"+p.path {
				f.Add(uint8(i), file.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		s := &Source{floors: map[string]*cpuFloor{}, disks: map[string]*disk{}, nics: map[string]*nic{}}
		parts := allParts()
		var frame kasoku.Frame
		err := parts[int(which)%len(parts)].collect(s, text, &frame)
		for _, sample := range frame.Samples {
			if sample.Value < 0 || sample.Name == "" || sample.Unit == "" {
				t.Fatalf("%+v (%v)", sample, err)
			}
		}
		if len(frame.Samples) > 8*(len(text)+1) {
			t.Fatalf("%d samples of %d bytes", len(frame.Samples), len(text))
		}
	})
}
