package tuning

import "github.com/kasoku/kasoku/labs/isuumo"

// DDL returns the statements that run after the schema for those defects of indexes
// that are mended, for "mariadb" or "mysql". It is empty when answers come from
// memory.
func DDL(d isuumo.Defects, database string) string {
	return ""
}
