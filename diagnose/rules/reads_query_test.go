package rules

import "github.com/kasoku/kasoku/diagnose/internal/extract"

// queryReads describes what queryRules read; false for other rules.
func queryReads(id string) (extract.Keys, bool) {
	k := extract.Keys{Settings: []string{"version", "version_comment", "sql_mode"}, Queries: true, Callers: true}
	switch id {
	case "QRY-07", "QRY-10", "QRY-11", "QRY-15", "QRY-14": // what the columns of the tables are
		k.Plans = true
	case "QRY-01", "QRY-08", "QRY-09":
	case "QRY-04", "QRY-05", "QRY-06": // the unique keys of the tables
		k.Plans = true
	case "DRV-02":
		k.Series = status("Com_stmt_prepare", "Com_stmt_execute", "Com_stmt_close", "Questions")
	case "DRV-03":
		k.Series = status("Com_commit", "Com_insert")
	case "DBC-08", "DBC-09":
		k.Transactions = true
	case "OPS-04":
		k.Plans = true
	default:
		return extract.Keys{}, false
	}
	return k, true
}
