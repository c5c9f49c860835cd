package recording

import (
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/loadreport"
)

// targetsTable has a row for each target of the steps; nil when there is one alone.
func (r stepTables) targetsTable() *report.Table {
	targets := loadreport.Targets(r.Recording)
	if len(targets) < 2 {
		return nil
	}
	t := loadreport.TargetTable(targets, true)
	t.Title = "Targets"
	return t
}
