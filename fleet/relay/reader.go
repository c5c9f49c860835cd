package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// ReaderCommand is the command of kasoku that reads logs of a host for its agent.
const ReaderCommand = "host-reader"

// A Reader is what logs kasoku is to read for the agent of a host: the first line of standard
// input, as a variable has too little room. It begins with the second one, which holds what was not
// known before, and ends when standard input does, as it does with the agent; how far it is
// stands on standard output, an answer of package fleet a line.
type Reader struct {
	Version int
	Dir     string   // of the agent's readings; this process alone works there
	Run     string   // names the file, RUN.tables
	Allowed []string // patterns: no other log is opened
	Kind    string
	Paths   []string
	Options json.RawMessage
}

// Tables returns the path of the file with the tables, which is there when it is whole.
func (r *Reader) Tables() string { return filepath.Join(r.Dir, r.Run+".tables") }

// Line returns it as the line of standard input.
func (r Reader) Line() ([]byte, error) {
	r.Version = version
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("order of a reader: %w", err)
	}
	return append(b, '\n'), nil
}

// ParseReader reads what Line returns.
func ParseReader(line []byte) (r Reader, err error) {
	if len(line) == 0 {
		return r, errors.New("the agent of a host starts this: kasoku agent --allow logs=PATTERN")
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("read the order of a reader: %w", err)
	}
	if r.Version != version {
		return r, fmt.Errorf("kasoku and %s are of different releases", Program)
	}
	return r, nil
}
