package data

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data/internal/picture"
)

// thumbnailPath is what a thumbnail may be to get a picture: nothing that leads out
// of its directory.
var thumbnailPath = regexp.MustCompile(`^/images/(chair|estate)/[0-9A-Za-z_-]+\.png$`)

// WriteImages writes a picture for each thumbnail that a row names, below the root
// of a web server: root/images/chair/… and root/images/estate/…
//
// There are a few dozen different pictures, drawn anew; the names are hard links to
// them where the file system has such. A thumbnail that is no name of a PNG file in
// one of the two directories gets none.
func WriteImages(root string, d *isuumo.Data) error {
	w := &imageWriter{root: root, first: map[string]string{}, done: map[string]bool{}}
	if err := makeDirectories(filepath.Join(root, "images", "chair"), filepath.Join(root, "images", "estate")); err != nil {
		return err
	}
	for _, rows := range append([][]isuumo.Chair{d.Chairs, d.VerifyChairs}, d.DraftChairs...) {
		for i := range rows {
			if err := w.write(rows[i].Thumbnail); err != nil {
				return err
			}
		}
	}
	for _, rows := range append([][]isuumo.Estate{d.Estates, d.VerifyEstates}, d.DraftEstates...) {
		for i := range rows {
			if err := w.write(rows[i].Thumbnail); err != nil {
				return err
			}
		}
	}
	return nil
}

type imageWriter struct {
	root  string
	first map[string]string // the file that a picture was first written to
	done  map[string]bool   // thumbnails
}

// write writes the picture of a thumbnail unless there is one. Which it is follows
// from the name.
func (w *imageWriter) write(thumbnail string) error {
	if w.done[thumbnail] || !thumbnailPath.MatchString(thumbnail) {
		return nil
	}
	w.done[thumbnail] = true
	file := filepath.Join(w.root, filepath.FromSlash(thumbnail))
	draw, count := picture.Chair, picture.Chairs()
	kind := path.Base(path.Dir(thumbnail))
	if kind == "estate" {
		draw, count = picture.House, picture.Houses()
	}
	i := int(crc32.ChecksumIEEE([]byte(thumbnail)) % uint32(count))
	key := fmt.Sprint(kind, i)
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("write pictures: %w", err)
	}
	if w.first[key] == "" {
		w.first[key] = file
		return writePNG(file, draw(i))
	}
	if os.Link(w.first[key], file) == nil {
		return nil
	}
	return writePNG(file, draw(i))
}

func writePNG(file string, img image.Image) error {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return fmt.Errorf("write pictures: %w", err)
	}
	return writeBytes(file, b.Bytes())
}
