package report_test

import (
	"testing"

	"github.com/kasoku/kasoku/report"
)

// TestSentence_Programs: a program's name is typed as it is, at the beginning of a sentence too.
func TestSentence_Programs(t *testing.T) {
	for text, want := range map[string]string{
		"ps ax -o rss lists processes": "ps ax -o rss lists processes", "sysctl fs.file-nr prints": "sysctl fs.file-nr prints",
		"nginx closes the connection": "nginx closes the connection", "pseudonyms are kept": "Pseudonyms are kept", "a run": "A run",
	} {
		if got := report.Sentence(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
