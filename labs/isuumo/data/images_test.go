package data

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// TestWriteImages: each thumbnail is a picture, again after a second time; names
// that lead elsewhere are not followed.
func TestWriteImages(t *testing.T) {
	root := t.TempDir()
	d := *small()
	d.Chairs = append([]isuumo.Chair{{Thumbnail: "/images/chair/../../evil.png"}, {Thumbnail: "/etc/x.png"}, {}}, d.Chairs...)
	for range 2 {
		if err := WriteImages(root, &d); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"chair", "estate"} {
		files, err := filepath.Glob(filepath.Join(root, "images", dir, "*"))
		if err != nil || len(files) < 900 || len(files) > thumbnailCount {
			t.Errorf("%d files of %ss, %v", len(files), dir, err)
		}
	}
	for _, thumbnail := range []string{d.Chairs[3].Thumbnail, d.Estates[0].Thumbnail, d.DraftEstates[19][0].Thumbnail} {
		f, err := os.Open(filepath.Join(root, thumbnail))
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(f); err != nil || img.Bounds().Dx() != 300 {
			t.Errorf("%s: %v", thumbnail, err)
		}
		f.Close()
	}
	evil, err := filepath.Glob(filepath.Join(root, "*.png"))
	if err != nil || len(evil) > 0 {
		t.Errorf("files %q, %v", evil, err)
	}
}
