package evidence

import (
	"strings"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/observe/process"
)

// FewSQLLines is the least number of lines of an application's log, of SQL or beside it,
// that a rule says anything of.
const FewSQLLines = 100

// WritesPerLine is how many write calls for each line of a log bear out that a process
// writes its lines one by one.
const WritesPerLine = 0.5

// Unmeasured is what an impact is of that one run cannot give a figure for.
const Unmeasured = "not measurable in one run"

// LogWriter returns the write calls of the process that made most of them, leaving
// out database servers and kasoku itself.
func LogWriter(c *diagnose.Case) diagnose.Grown {
	var most diagnose.Grown
	for _, s := range c.FindAll(diagnose.Process, process.IOWriteCalls) {
		_, name, _ := strings.Cut(s.Key.Instance, " ")
		if wording.ContainsFold(name, "mysqld", "mariadbd") {
			continue
		}
		if g, err := c.Counters().Grown(s.Key); err == nil && g.By > most.By {
			most = g
		}
	}
	return most
}
