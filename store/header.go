package store

import (
	"encoding/binary"
	"fmt"
)

// headerBytes is the length of the header of an SQLite database.
const headerBytes = 100

// A header is what the first bytes of a run file say.
type header struct {
	log     bool  // the file has, or had, a write-ahead log
	version int64 // of the schema
}

// parseHeader reads the header of a database and refuses what is not a run file
// of kasoku.
//
// Source: https://sqlite.org/fileformat2.html, "The Database Header": bytes 0-15
// are the magic string, 18 and 19 are 2 with a write-ahead log, 60-63 hold the
// user version, 68-71 the application id.
func parseHeader(b []byte) (header, error) {
	const magic = "SQLite format 3\x00"
	switch {
	case len(b) == 0:
		return header{}, fmt.Errorf("%w: it is empty", ErrNotRun)
	case len(b) < headerBytes || string(b[:len(magic)]) != magic:
		return header{}, fmt.Errorf("%w: it is no SQLite database", ErrNotRun)
	}
	if id := binary.BigEndian.Uint32(b[68:]); id != applicationID {
		return header{}, fmt.Errorf("%w: it is an SQLite database of another program", ErrNotRun)
	}
	return header{log: b[18] == 2 || b[19] == 2, version: int64(binary.BigEndian.Uint32(b[60:]))}, nil
}
