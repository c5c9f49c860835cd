package applog

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// Lines that make the parser panic are dropped, and the account adds up.
func TestBugIsADroppedLine(t *testing.T) {
	defer contain.Forget()
	defer contain.Plant(appPart)()
	table, err := Read(lines.NewReader(strings.NewReader("ERROR a\n\nERROR b\n"), 0), Options{})
	if a := table.account; err != nil || a.Lines != 3 || a.Dropped != 3 || a.Records != 0 || a.Bad[0].Why != logs.Bug {
		t.Errorf("%v, %+v", err, a)
	}
}
