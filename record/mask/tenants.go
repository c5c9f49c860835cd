package mask

import (
	"errors"

	"github.com/kasoku/kasoku/observe/mysql"
)

// A Renamer gives instances of a source's series other names, as a run file does.
type Renamer interface {
	RenameInstances(source string, rename func(series, instance string) string) error
}

// Tenants takes the statements and tables of others out of the names of series: whose a schema is
// may have been seen after they had some. d reads no more.
func Tenants(file Renamer, d *mysql.Detail) error {
	hide := func(source string, isOthers func(series string) bool) error {
		return file.RenameInstances(source, func(_, instance string) string {
			if instance != "" && isOthers(instance) {
				return Neighbour
			}
			return instance
		})
	}
	return errors.Join(hide(mysql.DigestsName, d.Digests.IsOthers), hide(mysql.TablesName, d.Tables.IsOthers))
}
