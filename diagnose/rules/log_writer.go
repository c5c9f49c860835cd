package rules

import (
	"strings"

	"github.com/kasoku/kasoku/diagnose"
)

const fewSQLLines = 100

const writesPerLine = 0.5

const unmeasuredInOneRun = "not measurable in one run"

// writer returns the write calls of the process that made most of them, leaving
// out database servers and kasoku itself.
func writer(c *diagnose.Case) diagnose.Grown {
	var most diagnose.Grown
	for _, s := range c.FindAll(diagnose.Process, "io.write_calls") {
		_, name, _ := strings.Cut(s.Key.Instance, " ")
		if containsFold(name, "mysqld", "mariadbd") {
			continue
		}
		if g, err := c.Grown(s.Key); err == nil && g.By > most.By {
			most = g
		}
	}
	return most
}
