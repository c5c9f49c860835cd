package fleet

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// The questions about a recording of a host.
const (
	Record    = "record"    // prepare one: a [RecordOrder]
	Recording = "recording" // how is it, and go on: a [RecordingQuestion]
	Part      = "part"      // a piece of its run file: a [PartQuestion]
)

// A RecordOrder asks a host to record itself, as its own kasoku.toml says that the agent's
// owner named. It names no file, no command and nothing that would be watched.
type RecordOrder struct {
	Run   string // names the recording, in all questions about it
	Label string `json:",omitempty"`
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
	case !l.Record:
		return &RefusedError{Reason: "to be recorded is not allowed here",
			Fix: "on that host: kasoku agent --allow record=/path/of/its/kasoku.toml, or --allow record"}
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
	Running   = "running"   // all that it watches is watched
	Analysing = "analysing" // the logs of its time are read where they lie
	Over      = "over"      // its run file can be fetched
	Failed    = "failed"    // there is none
)

// A RecordingQuestion asks how a recording is, and so keeps it alive: one for which no one
// asks for a while ends in order. What else it asks for is done once, however often it is asked.
type RecordingQuestion struct {
	Run    string
	Begin  time.Duration `json:",omitempty"` // Clock: offset 0
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
