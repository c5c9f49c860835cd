package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// RecorderEnv names the variable with [Recorder], as JSON.
const RecorderEnv = "KASOKU_HOST_RECORDER"

// RecorderCommand is the command of kasoku that records a host for its agent.
const RecorderCommand = "host-recorder"

// A Recorder is what kasoku is to record for the agent of a host, as the agent's owner allowed it.
// It takes [Begin] from standard input and ends in order when that ends, as it does with the
// agent; what it does stands on standard output, a [Recorded] a line.
type Recorder struct {
	Version int
	Dir     string // of the agent's recordings; this process alone works there
	Run     string // names the file, RUN.kasoku, once it is whole
	Config  string // the kasoku.toml that says what; empty: the host and its processes
	Label   string
	On      string // it waits for this request; empty: for none
	Longest time.Duration
	Salvage bool // instead: make whole what a recorder left that was killed
}

// Lock is the name of a file in Dir that a recorder holds for as long as it lives (flock(2)).
const Lock = "lock"

// Whole returns the path of the run file when it is whole.
func (r *Recorder) Whole() string { return filepath.Join(r.Dir, r.Run+".kasoku") }

// Partial returns its path before.
func (r *Recorder) Partial() string { return filepath.Join(r.Dir, r.Run+".partial") }

// Begin gives the moment of offset 0.
type Begin struct {
	At  time.Duration `json:",omitempty"` // CLOCK_MONOTONIC
	Cut time.Duration `json:",omitempty"` // the same, of one that waited since At
}

// Recorded is a state of the recording, as package fleet names them.
type Recorded struct {
	State string
	Began time.Duration `json:",omitempty"` // CLOCK_MONOTONIC: offset 0
	Error string        `json:",omitempty"` // why it failed, or what went wrong in the end
	Short string        `json:",omitempty"` // why it ended before it was asked to

	Sighting json.RawMessage `json:",omitempty"` // as package fleet names it; none: as before
}

// String returns it as the variable holds it.
func (r Recorder) String() string {
	r.Version = version
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprint("recorder: ", err)) // strings and numbers always encode
	}
	return string(b)
}

// ParseRecorder reads what String returns.
func ParseRecorder(text string) (r Recorder, err error) {
	if text == "" {
		return r, errors.New("the agent of a host starts this: kasoku agent --allow record")
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("read %s: %w", RecorderEnv, err)
	}
	if r.Version != version {
		return r, fmt.Errorf("kasoku and %s are of different releases", Program)
	}
	return r, nil
}
