package kasoku

import "fmt"

// TenantsScope is the scope of the settings by which a run keeps whose connections to its
// database server sent statements.
const TenantsScope = "tenants"

// Tenants are connections to a database server that sent statements, and how many.
type Tenants struct {
	Others int // of programs outside of the service
	All    int
}

// Known are statements of a database server that others use too, of which it is known that the
// service's connections sent them, and all that the server counted in the same time.
type Known struct {
	Connections     uint64 // of the service that sent statements
	Own, Statements uint64
	OwnPrepares     uint64 // 0 where the log has none, as MariaDB's
	Prepares        uint64
	HasPrepares     bool // the log has them
}

const (
	tenantsName   = "connections"
	formatTenants = "%d of %d are others'"
	knownName     = "statements"
	formatKnown   = "%d of %d are the service's, over %d connections"
	preparesName  = "prepares"
	formatPrepare = "%d of %d are the service's"
	sentName      = "sent over"
	formatSent    = "%d connections"
)

// SentOver returns the form in which a run keeps over how many connections the statements came that
// the slow log has of it.
func SentOver(host string, connections uint64) Setting {
	return Setting{Host: host, Scope: TenantsScope, Name: sentName, Value: fmt.Sprintf(formatSent, connections)}
}

// SentOverOf returns over how many connections they came; false where that is not known.
func SentOverOf(r *Recording) (connections uint64, ok bool) {
	text, ok := r.Setting(TenantsScope, sentName)
	if !ok {
		return 0, false
	}
	n, err := fmt.Sscanf(text, formatSent, &connections)
	return connections, n == 1 && err == nil
}

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

// Settings returns the form in which a run keeps them.
func (k Known) Settings(host string) []Setting {
	s := []Setting{{Host: host, Scope: TenantsScope, Name: knownName,
		Value: fmt.Sprintf(formatKnown, k.Own, k.Statements, k.Connections)}}
	if k.HasPrepares {
		s = append(s, Setting{Host: host, Scope: TenantsScope, Name: preparesName,
			Value: fmt.Sprintf(formatPrepare, k.OwnPrepares, k.Prepares)})
	}
	return s
}

// KnownOf returns whose statements a server had; false where that is not known.
func KnownOf(r *Recording) (k Known, ok bool) {
	text, ok := r.Setting(TenantsScope, knownName)
	if !ok {
		return k, false
	}
	if n, err := fmt.Sscanf(text, formatKnown, &k.Own, &k.Statements, &k.Connections); n != 3 || err != nil ||
		k.Own > k.Statements {
		return Known{}, false
	}
	if text, ok = r.Setting(TenantsScope, preparesName); ok {
		n, err := fmt.Sscanf(text, formatPrepare, &k.OwnPrepares, &k.Prepares)
		k.HasPrepares = n == 2 && err == nil && k.OwnPrepares <= k.Prepares
	}
	return k, true
}
