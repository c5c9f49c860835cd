package picture

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestPictures: all pictures differ, and each is a few kilobytes. With
// KASOKU_PICTURES=DIR they are written there, to be looked at.
func TestPictures(t *testing.T) {
	seen := map[string]string{}
	check := func(name string, i int, img image.Image) {
		t.Helper()
		name += strconv.Itoa(i)
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		if img.Bounds() != image.Rect(0, 0, Width, Height) || b.Len() > 12_000 {
			t.Errorf("%s: %v, %d bytes", name, img.Bounds(), b.Len())
		}
		if same, ok := seen[b.String()]; ok {
			t.Errorf("%s is the same as %s", name, same)
		}
		seen[b.String()] = name
		if dir := os.Getenv("KASOKU_PICTURES"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, name+".png"), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range Chairs() {
		check("chair", i, Chair(i))
	}
	for i := range Houses() {
		check("house", i, House(i))
	}
}
