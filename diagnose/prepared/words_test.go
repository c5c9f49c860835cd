package prepared

import (
	"errors"
	"strings"
	"testing"
)

// TestFirstLine: an answer as long as a server that lies can send is not printed whole.
func TestFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"Error 1064: near '?'.\nmore":    "Error 1064: near '?'",
		"x" + strings.Repeat("é", 4<<20): "x" + strings.Repeat("é", mostAnswer/2-1) + "…",
	} {
		if got := firstLine(errors.New(text)); got != want {
			t.Errorf("%d bytes, want %d: %.40s", len(got), len(want), got)
		}
	}
}
