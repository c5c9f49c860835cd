package evidence

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/process"
)

// FewSQLLines is the least number of lines of an application's log, of SQL or beside it,
// that a rule says anything of.
const FewSQLLines = 100

// WritesPerLine is how many write calls for each line of a log confirm that a process writes
// its lines one by one.
const WritesPerLine = 0.5

// Unmeasured is the Of of an impact whose share one run cannot give.
const Unmeasured = "not measurable in one run"

// LogWriter returns the write calls of the member of the service that made most of them,
// databases left out; the zero value when none was recorded, or no member is known.
func LogWriter(c *diagnose.Case) diagnose.Grown {
	var most diagnose.Grown
	for _, s := range c.FindAll(diagnose.Process, process.IOWriteCalls) {
		if m := c.Processes().MemberOf(s.Key); m == nil || m.Role == kasoku.RoleDatabase {
			continue
		}
		if g, err := c.Counters().Grown(s.Key); err == nil && g.By > most.By {
			most = g
		}
	}
	return most
}
