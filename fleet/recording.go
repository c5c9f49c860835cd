package fleet

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/logs/phases"
)

// The questions about a recording of a host.
const (
	Record    = "record"    // prepare one: a [RecordOrder]
	Recording = "recording" // how is it, and go on: a [RecordingQuestion]
	Part      = "part"      // a piece of its run file: a [PartQuestion]
)

// A RecordOrder asks a host to record itself, as its own kasoku.toml says that the agent's
// owner named. It names no file, no command and nothing that would be watched, but for a request that
// is looked for in the access logs that the file names.
type RecordOrder struct {
	Run   string // names the recording, in all questions about it
	Label string `json:",omitempty"`
	On    string `json:",omitempty"` // it begins with this request, seen here or elsewhere
}

// maxLabel is the longest label of a run that a host takes from another.
const maxLabel = 200

// Check returns a [*RefusedError] when the host does not carry the order out.
func (o *RecordOrder) Check(l *Limit) error {
	switch {
	case !isRun(o.Run):
		return &RefusedError{Reason: "the recording has no name"}
	case len(o.Label) > maxLabel:
		return &RefusedError{Reason: fmt.Sprintf("a label of %d bytes", len(o.Label))}
	case len(o.On) > maxLabel:
		return &RefusedError{Reason: fmt.Sprintf("a request of %d bytes", len(o.On))}
	case !l.Record:
		return &RefusedError{Reason: "to be recorded is not allowed here",
			Fix: "on that host: kasoku agent --allow record=/path/of/its/kasoku.toml, or --allow record"}
	}
	if o.On != "" {
		if _, err := phases.ParseRequest(o.On); err != nil {
			return &RefusedError{Reason: Clean(err.Error())}
		}
	}
	return nil
}

// runBytes is how many random bytes name a load or a recording.
const runBytes = 8

// isRun reports whether a text is the name of a load or a recording: so it is also the name of a
// file, and of no other directory's.
func isRun(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == runBytes && hex.EncodeToString(b) == text
}

// CheckRun refuses what names no recording.
func CheckRun(run string) error {
	if !isRun(run) {
		return errors.New("the recording has no name")
	}
	return nil
}

// The states of a recording, in their order.
const (
	Preparing = "preparing"
	Ready     = "ready"     // it begins when it is asked to
	Waiting   = "waiting"   // all that it watches is watched, and the request is waited for
	Running   = "running"   // all that it watches is watched
	Analysing = "analysing" // the logs of its time are read where they lie
	Over      = "over"      // its run file can be fetched
	Failed    = "failed"    // there is none
)

// A RecordingQuestion asks how a recording is, and so keeps it alive: one for which no one
// asks for a while ends in order. What else it asks for is done once, however often it is asked.
type RecordingQuestion struct {
	Run    string
	Begin  time.Duration `json:",omitempty"` // Clock: offset 0, or when to begin to wait
	Cut    time.Duration `json:",omitempty"` // Clock: offset 0 of one that waits
	Stop   bool          `json:",omitempty"` // end it in order, and keep what there is
	Forget bool          `json:",omitempty"` // its run file has come, or is not wanted
}

// A RecordingAnswer is how a recording is.
type RecordingAnswer struct {
	Error string        `json:",omitempty"` // why it failed, or is not known
	State string        `json:",omitempty"`
	Began time.Duration `json:",omitempty"` // Clock: offset 0, once it began
	Size  int64         `json:",omitempty"` // of its run file, once it is over
	Sum   string        `json:",omitempty"` // its SHA-256, in hexadecimal digits
	Short string        `json:",omitempty"` // why it ended before it was asked to
	Sighting
}

// A Sighting is what a recording sees in the access logs of its host.
type Sighting struct {
	Logs  int           `json:",omitempty"` // that it waits at
	Seen  time.Duration `json:",omitempty"` // Clock: when the request began; 0: it did not
	Blind bool          `json:",omitempty"` // Seen is when it was logged, as the log has no request times
	Path  string        `json:",omitempty"` // of the log
	Grown int64         `json:",omitempty"` // bytes that they have grown by
}

// A PartQuestion asks for a piece of the run file.
type PartQuestion struct {
	Run    string
	Offset int64
}

// A PartAnswer is that piece. It is empty at the end of the file.
type PartAnswer struct {
	Error string `json:",omitempty"`
	Data  []byte `json:",omitempty"`
}

const (
	// MaxPiece is the most bytes of a [PartAnswer]; a message holds 1 MiB, and JSON takes four bytes for three.
	MaxPiece = 512 << 10
	// MaxPart is the most bytes of a run file that a host hands over, or is taken from it.
	MaxPart = 256 << 20
	// LongestRecording is after what time a recording ends by itself.
	LongestRecording = 6 * time.Hour
)
