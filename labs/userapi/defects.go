package userapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
)

// Defects is a set of seeded defects by catalogue id.
type Defects []string

// Known lists the ids that this lab can seed: those that make it slow, then
// those that show when it is initialised or restarted.
func Known() Defects { return append(Seeded(), "IDX-08", "OPS-01", "OPS-02", "OPS-09") }

// Seeded returns all defects that make the service slow.
func Seeded() Defects { return Defects{"POOL-01", "POOL-02", "DRV-01", "DRV-04", "DRV-05"} }

// Tuned returns no defect.
func Tuned() Defects { return Defects{} }

// ParseDefects reads a comma-separated list of ids, "none", or "all" for those
// of [Seeded].
func ParseDefects(s string) (Defects, error) {
	switch strings.TrimSpace(s) {
	case "all":
		return Seeded(), nil
	case "none", "":
		return Tuned(), nil
	}
	var out Defects
	for id := range strings.SplitSeq(s, ",") {
		id = strings.ToUpper(strings.TrimSpace(id))
		if !slices.Contains(Known(), id) {
			return nil, fmt.Errorf("unknown defect %q: want %s, all or none", id, strings.Join(Known(), ", "))
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// Has reports whether the set holds the id.
func (d Defects) Has(id string) bool { return slices.Contains(d, id) }

// Without returns the set without one id.
func (d Defects) Without(id string) Defects {
	return slices.DeleteFunc(slices.Clone(d), func(x string) bool { return x == id })
}

// String lists the ids, "none" for an empty set.
func (d Defects) String() string {
	if len(d) == 0 {
		return "none"
	}
	return strings.Join(d, ",")
}

// Sizes of the pool and of the server's limit with the defect mended.
const (
	// cappedOpen leaves a third of MariaDB's and MySQL's default of 151
	// connections to other clients.
	cappedOpen = 100
	// uncappedIdle is what the service's authors tried when open connections
	// had no cap: as many idle ones as requests a second.
	uncappedIdle = 1000
	// raisedMaxConnections is twice the cap and half: room for a second host.
	raisedMaxConnections = 300
	// defaultMaxConnections is the default of MariaDB 10.11 and MySQL 9.7.
	defaultMaxConnections = 151
)

// pool is what the defects make of the connection pool; idle below 0 leaves
// database/sql's default of 2.
type pool struct{ open, idle int }

func (c Config) pool() pool {
	p := pool{open: cappedOpen, idle: cappedOpen}
	if c.Defects.Has("POOL-02") {
		p.open, p.idle = 0, uncappedIdle
	}
	if c.Defects.Has("POOL-01") {
		p.idle = -1
	}
	if c.MaxIdle > 0 {
		p.idle = c.MaxIdle
	}
	return p
}

// maxConnections is what the defects make of the server's limit.
func (d Defects) maxConnections() int {
	if d.Has("POOL-02") {
		return defaultMaxConnections
	}
	return raisedMaxConnections
}

// Settings are what the defects make of the service's own settings, under the
// scope app; 2 is what database/sql keeps idle unless set otherwise.
func Settings(d Defects, maxIdle int) []kasoku.Setting {
	p := (Config{Defects: d, MaxIdle: maxIdle}).pool()
	open, idle := "unlimited", "2"
	if p.open > 0 {
		open = strconv.Itoa(p.open)
	}
	if p.idle >= 0 {
		idle = strconv.Itoa(p.idle)
	}
	return []kasoku.Setting{
		{Scope: "app", Name: "pool.max_open", Value: open},
		{Scope: "app", Name: "pool.max_idle", Value: idle},
		{Scope: "app", Name: "interpolateParams", Value: strconv.FormatBool(!d.Has("DRV-01"))},
		{Scope: "app", Name: "save_by_mapper", Value: strconv.FormatBool(d.Has("DRV-04"))},
		{Scope: "app", Name: "log_sql", Value: strconv.FormatBool(d.Has("DRV-05"))},
	}
}
