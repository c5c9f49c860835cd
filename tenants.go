package kasoku

import "fmt"

// TenantsScope is the scope of the setting by which a run keeps whose connections to its
// database server sent statements.
const TenantsScope = "tenants"

// Tenants are connections to a database server that sent statements.
type Tenants struct {
	Others int // of programs outside of the service
	All    int
}

const (
	tenantsName   = "connections"
	formatTenants = "%d of %d are others'"
)

// Setting returns the form in which a run keeps it.
func (t Tenants) Setting(host string) Setting {
	return Setting{Host: host, Scope: TenantsScope, Name: tenantsName, Value: fmt.Sprintf(formatTenants, t.Others, t.All)}
}

// TenantsOf returns whose connections sent statements; false where that is not known.
func TenantsOf(r *Recording) (t Tenants, ok bool) {
	text, ok := r.Setting(TenantsScope, tenantsName)
	if !ok {
		return t, false
	}
	n, err := fmt.Sscanf(text, formatTenants, &t.Others, &t.All)
	return t, n == 2 && err == nil && 0 <= t.Others && t.Others <= t.All
}
