package report

// targetsTable has a row for each target of the steps; nil when there is one alone.
func (r stepTables) targetsTable() *Table {
	targets := Targets(r.Recording)
	if len(targets) < 2 {
		return nil
	}
	t := targetTable(targets, true)
	t.Title = "Targets"
	return t
}
