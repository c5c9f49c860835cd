package advice

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
)

const (
	// askedAgain is the part of the time of reads that goes to statements which came
	// before, word for word, from which a cache of answers is worth trying.
	askedAgain = 0.3
	// queryCacheSize has room for some ten thousand answers of a page; a larger one
	// takes longer to clear.
	queryCacheSize = 64 << 20
)

// QueryCacheFix lets MariaDB keep the answers of reads that repeat, while its query
// cache is off and the reads of the run repeat. What is kept of a table goes with each
// write to it, so answers stay right; whether it helps has to be measured (DBC-06).
//
// Source: MariaDB, "Query Cache".
func QueryCacheFix(c *diagnose.Case) (kasoku.Fix, bool) {
	kind, ok := c.Setting("mysql", "query_cache_type")
	size, known := c.Number("query_cache_size")
	if !ok || !known || evidence.SwitchedOn(c, "query_cache_type") && size > 0 || kind == "DEMAND" {
		return kasoku.Fix{}, false
	}
	var reads, again time.Duration
	for i := range c.Queries {
		q := &c.Queries[i]
		if q.Verb != "SELECT" || q.Calls == 0 || q.Distinct == 0 || evidence.OnlyInitialize(c, q) {
			continue
		}
		reads += q.Total
		again += time.Duration(float64(q.Total) * (1 - float64(q.Distinct)/float64(q.Calls)))
	}
	if reads == 0 || float64(again) < askedAgain*float64(reads) {
		return kasoku.Fix{}, false
	}
	f := kasoku.Fix{
		Text:  "Or let MariaDB keep answers to the same question until one of their tables is written",
		Where: "now, for connections made from then on; in the option file for the next start",
		Lang:  "sql", Risk: kasoku.RiskNone,
		Note: fmt.Sprintf("%s of the time of all reads went to statements that came before, word for word. Each statement takes the lock of this cache, and each write drops what is kept of its table: measure it.",
			unit.Percent(float64(again)/float64(reads))),
	}
	for _, v := range [][2]string{{"query_cache_size", fmt.Sprint(queryCacheSize)}, {"query_cache_type", "ON"}} {
		f.Edits = append(f.Edits, kasoku.Edit{Kind: kasoku.EditVariable, Do: "SET GLOBAL " + v[0] + " = " + v[1],
			Conf: v[0] + " = " + v[1]})
		f.Code += "SET GLOBAL " + v[0] + " = " + v[1] + ";\n"
	}
	return f, true
}
