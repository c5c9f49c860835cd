package request

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
)

const (
	// maxUpload is the longest upload that is read; 500 rows have 250 kB.
	maxUpload = 64 << 20
	// inMemory is how much of an upload is kept in memory; the rest would go to a
	// temporary file, which net/http removes after the answer.
	inMemory = 32 << 20
)

// Chairs reads the rows of an upload: CSV without a header in the multipart file
// chairs. It refuses a request without that file, a row with too few columns and a
// number that is none with 400, text that is no CSV or has rows of different
// lengths with 500. Further columns are not looked at.
func Chairs(r *http.Request) ([]isuumo.Chair, error) {
	return upload(r, "chairs", chair)
}

// Estates reads the rows of the multipart file estates, as [Chairs] does.
func Estates(r *http.Request) ([]isuumo.Estate, error) {
	return upload(r, "estates", estate)
}

func upload[T any](r *http.Request, part string, row func(*fields) T) ([]T, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxUpload)
	if err := r.ParseMultipartForm(inMemory); err != nil {
		return nil, bad("read the upload: " + err.Error())
	}
	f, _, err := r.FormFile(part)
	if err != nil {
		return nil, bad("read the upload: " + err.Error())
	}
	defer f.Close()
	return parseRows(f, row)
}

// parseRows reads all of the text before the first row, so that text which is no
// CSV is reported first wherever it stands.
func parseRows[T any](r io.Reader, row func(*fields) T) ([]T, error) {
	records, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, broken("read CSV: " + err.Error())
	}
	out := make([]T, len(records))
	for i, record := range records {
		f := fields{record: record}
		out[i] = row(&f)
		if f.err != nil {
			return nil, bad(fmt.Sprintf("row %d: %v", i+1, f.err))
		}
	}
	return out, nil
}

func chair(f *fields) isuumo.Chair {
	return isuumo.Chair{
		ID: f.number(), Name: f.text(), Description: f.text(), Thumbnail: f.text(),
		Price: f.number(), Height: f.number(), Width: f.number(), Depth: f.number(),
		Color: f.text(), Features: f.text(), Kind: f.text(), Popularity: f.number(), Stock: f.number(),
	}
}

func estate(f *fields) isuumo.Estate {
	return isuumo.Estate{
		ID: f.number(), Name: f.text(), Description: f.text(), Thumbnail: f.text(), Address: f.text(),
		Latitude: f.degrees(), Longitude: f.degrees(),
		Rent: f.number(), DoorHeight: f.number(), DoorWidth: f.number(), Features: f.text(), Popularity: f.number(),
	}
}

// fields takes the columns of a record one after the other and keeps the first error.
type fields struct {
	record []string
	next   int
	err    error
}

func (f *fields) text() string {
	if f.next >= len(f.record) {
		f.fail(fmt.Errorf("%d columns are too few", len(f.record)))
		return ""
	}
	f.next++
	return f.record[f.next-1]
}

func (f *fields) number() int64 {
	v, err := strconv.ParseInt(f.text(), 10, 64)
	f.fail(err)
	return v
}

func (f *fields) degrees() float64 {
	v, err := strconv.ParseFloat(f.text(), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = fmt.Errorf("%g is no place", v)
	}
	f.fail(err)
	return v
}

func (f *fields) fail(err error) {
	if f.err == nil && err != nil {
		f.err = err
	}
}
