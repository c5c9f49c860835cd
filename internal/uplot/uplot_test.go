package uplot

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// TestFilesAreTheOnesPublished: the sums are those of npm's uplot-1.6.32.tgz.
func TestFilesAreTheOnesPublished(t *testing.T) {
	size := 0
	for _, f := range []struct{ name, text, sum string }{
		{"script", Script(), "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"},
		{"style", Style(), "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"},
		{"licence", License(), "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd"},
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(f.text))); got != f.sum {
			t.Errorf("the %s has the sum %s, want %s", f.name, got, f.sum)
		}
		size += len(f.text)
	}
	if size > 60_000 {
		t.Errorf("%d bytes go into each page, want at most 60,000", size)
	}
	if !strings.Contains(Script(), "(v"+Version+")") || strings.Contains(Script(), "</script") {
		t.Errorf("the script begins %q", Script()[:80])
	}
}
