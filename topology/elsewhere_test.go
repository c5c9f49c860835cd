package topology

import (
	"testing"

	"github.com/kasoku/kasoku/internal/foreign"
)

// TestFindLogsElsewhere: what a program in a container has open is none of this host's
// files; it is a note.
func TestFindLogsElsewhere(t *testing.T) {
	for _, here := range []bool{true, false} {
		l := &looker{view: &view{}, found: &Found{}}
		p := l.applications()
		p.apps = []*subject{{Service: &Service{Name: "app"}, fds: map[int]string{1: "/var/log/app.log"}, held: &foreign.Process{Here: here}}}
		p.findLogs()
		if (len(p.found.Logs) == 1) != here || (len(l.view.notes) == 1) == here {
			t.Errorf("here %v: logs %v, notes %v", here, p.found.Logs, l.view.notes)
		}
	}
}
