package rules

import (
	"slices"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
	"github.com/kasoku/kasoku/diagnose/rules/cache"
	"github.com/kasoku/kasoku/diagnose/rules/carbon"
	"github.com/kasoku/kasoku/diagnose/rules/client"
	"github.com/kasoku/kasoku/diagnose/rules/driver"
	"github.com/kasoku/kasoku/diagnose/rules/durability"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/diagnose/rules/index"
	"github.com/kasoku/kasoku/diagnose/rules/limit"
	"github.com/kasoku/kasoku/diagnose/rules/lock"
	"github.com/kasoku/kasoku/diagnose/rules/measurement"
	"github.com/kasoku/kasoku/diagnose/rules/operation"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
	"github.com/kasoku/kasoku/diagnose/rules/query"
	"github.com/kasoku/kasoku/diagnose/rules/web"
)

// All returns every rule, family by family.
func All() []diagnose.Rule {
	return slices.Concat(index.Rules(), query.Rules(), driver.Rules(), pool.Rules(), lock.Rules(),
		durability.Rules(), cache.Rules(), web.Rules(), application.Rules(), host.Rules(), limit.Rules(),
		client.Rules(), carbon.Rules(), operation.Rules(), measurement.Rules())
}
