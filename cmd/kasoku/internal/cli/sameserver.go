package cli

import (
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
)

// IsDatabaseOf reports whether a data source name leads to the server that a kasoku.toml
// is about, so that what that says of it holds.
func IsDatabaseOf(c *config.Config, dsn string) bool {
	named, _, err := record.DSN(c.MySQL)
	if err == nil && named == "" {
		named = c.Service.MySQL
	}
	if err != nil || named == "" {
		return false
	}
	network, address := mysqlflags.Address(named)
	network2, address2 := mysqlflags.Address(dsn)
	return address != "" && network == network2 && address == address2
}
