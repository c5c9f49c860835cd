package main

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku/lines"
	"github.com/kasoku/kasoku/report"
)

func (f *accessFlags) followAll(ctx context.Context, e *env, in []lines.Input, o report.AccessOptions) error {
	return errors.New("not yet")
}
