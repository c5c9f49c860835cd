package extract

import (
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
)

// addJoined appends what was found out of several sources together: who runs which
// statements, how the server runs them, who waited for whom.
func (w *writer) addJoined(dir string, rec *kasoku.Recording, k Keys, host func(string) string) {
	if k.Callers {
		records(w, dir+"joins.json", onHost(rec.Joins, func(v *kasoku.Join) *string { return &v.Host }, host))
		records(w, dir+"callers.json", onHost(rec.Callers, func(v *kasoku.Caller) *string { return &v.Host }, host))
	}
	if k.Plans {
		records(w, dir+"plans.json", onHost(rec.Plans, func(v *kasoku.Plan) *string { return &v.Host }, host))
		records(w, dir+"tables.json", onHost(rec.Tables, func(v *kasoku.TableDef) *string { return &v.Host }, host))
	}
	if k.Transactions {
		records(w, dir+"transactions.json", onHost(rec.Transactions,
			func(v *kasoku.Transaction) *string { return &v.Host }, host))
	}
	if k.Locks {
		records(w, dir+"lockwaits.json", onHost(rec.LockWaits, func(v *kasoku.LockWait) *string { return &v.Host },
			host))
		records(w, dir+"deadlocks.json", onHost(rec.Deadlocks, func(v *kasoku.Deadlock) *string { return &v.Host },
			host))
	}
	if k.Traces {
		records(w, dir+"traces.json", onHost(rec.Traces, func(v *kasoku.Trace) *string { return &v.Host }, host))
	}
	if k.Profiles {
		records(w, dir+"profiles.json", bareProfiles(rec.Profiles, host))
	}
	if k.Slowest {
		records(w, dir+"slowest.json", onHost(rec.Slowest, func(v *kasoku.SlowRequest) *string { return &v.Host },
			host))
	}
}

// bareProfiles leaves out stacks, addresses and what is less than a twentieth of a profile.
func bareProfiles(in []kasoku.Profile, host func(string) string) []kasoku.Profile {
	out := onHost(in, func(v *kasoku.Profile) *string { return &v.Host }, host)
	for i := range out {
		p := &out[i]
		p.Address, p.Data = "", nil
		p.Functions = slices.DeleteFunc(slices.Clone(p.Functions), func(f kasoku.ProfileFunction) bool {
			return 20*f.Cum < p.Total
		})
		for k := range p.Functions {
			p.Functions[k].File = ""
		}
	}
	return out
}

// onHost returns a copy in which hosts have the extract's names.
func onHost[T any](in []T, of func(*T) *string, host func(string) string) []T {
	out := slices.Clone(in)
	for i := range out {
		name := of(&out[i])
		*name = host(*name)
	}
	return out
}

func parseJoined(rec *kasoku.Recording, name string, data []byte) error {
	switch name {
	case "joins.json":
		return decode(data, &rec.Joins)
	case "traces.json":
		return decode(data, &rec.Traces)
	case "profiles.json":
		return decode(data, &rec.Profiles)
	case "callers.json":
		return decode(data, &rec.Callers)
	case "plans.json":
		return decode(data, &rec.Plans)
	case "tables.json":
		return decode(data, &rec.Tables)
	case "transactions.json":
		return decode(data, &rec.Transactions)
	case "lockwaits.json":
		return decode(data, &rec.LockWaits)
	case "deadlocks.json":
		return decode(data, &rec.Deadlocks)
	case "slowest.json":
		return decode(data, &rec.Slowest)
	}
	return fmt.Errorf("no such table")
}
