package prepared

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Fixes asks the server whether it takes the SQL of findings, by a connection of its own: the
// run's is closed when its file is read.
func Fixes(ctx context.Context, rec *kasoku.Recording, dsn string) (err error) {
	if !Asks(rec) {
		return nil
	}
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		NotAsked(rec)
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r, err := mysql.New(ctx, db)
	if err != nil {
		NotAsked(rec)
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	Check(ctx, r, rec, mysqlflags.Database(dsn))
	return nil
}
