package load

import (
	"errors"
	"io"
)

// A Table is a CSV file whose columns fill places of requests: request n takes
// row n, and from the first one again after the last. It is immutable and safe
// for concurrent use.
type Table struct{}

// ReadTable reads a CSV file with a header. Errors name the file and the line.
func ReadTable(r io.Reader, name string) (*Table, error) { return nil, errors.New("no tables") }
