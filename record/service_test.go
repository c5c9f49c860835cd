package record

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
)

// TestMembersLost: a bug of the look for members ends that look alone, is a warning, and
// nothing of what was found before is stored (there is no store here).
func TestMembersLost(t *testing.T) {
	defer contain.Forget()
	defer contain.Plant(membersPart)()
	w := &serviceWatch{recorder: &recorder{}}
	w.found.Members = []kasoku.Member{{ID: "web server nginx :80"}}
	w.begin(t.Context())
	w.end()
	if len(w.warnings) != 1 || w.warnings[0].Code != "part-lost" ||
		!strings.Contains(w.warnings[0].Text, membersPart.String()+": "+contain.Phrase) {
		t.Errorf("warnings %v, want that %s is lost", w.warnings, membersPart)
	}
}
