package advise

import "github.com/kasoku/kasoku"

// FromRecording takes what a run recorded of its database.
func FromRecording(rec *kasoku.Recording) Input {
	return Input{}
}
