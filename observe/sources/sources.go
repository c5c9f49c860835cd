// Package sources is the list of all that kasoku can watch. A new source is added here,
// and what it is stands in the declaration in its own folder.
//
// The list is data that the compiler lays out: nothing runs when the program starts.
package sources

import (
	"slices"

	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/freespace"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/logsize"
	"github.com/kasoku/kasoku/observe/memcached"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/observe/varnish"
)

var all = []*observe.Declaration{
	&host.Declared,
	&process.Declared, &process.DeclaredThreads, &process.DeclaredGroups,
	&cgroup.Declared,
	&sockets.Declared,
	&mysql.Declared, &mysql.DeclaredLocks, &mysql.DeclaredReplication, &mysql.DeclaredDigests, &mysql.DeclaredTables,
	&freespace.Declared,
	&nginx.Declared,
	&varnish.Declared,
	&redis.Declared,
	&memcached.Declared,
	&graphite.Declared,
	&expvar.Declared,
	&profile.Declared,
	&logsize.Declared,
	&observe.DeclaredSelf,
}

// All returns the declarations of all sources, in the order in which they are shown.
// The slice is the caller's, what it points to is not.
func All() []*observe.Declaration { return slices.Clone(all) }

// Find returns the declaration with that name, nil where there is none.
func Find(name string) *observe.Declaration {
	for _, d := range all {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Signal returns the signal that is recorded under a source's name with that key; ok is
// false for one that no source declares.
func Signal(source, key string) (s observe.Signal, ok bool) {
	for _, d := range all {
		if d.SourceName() != source {
			continue
		}
		if s, ok = d.Signal(key); ok {
			return s, true
		}
	}
	return observe.Signal{}, false
}

// Switchable returns the words for what [sources] off of kasoku.toml takes.
func Switchable() []string {
	var out []string
	for _, d := range all {
		if !d.Always {
			out = append(out, d.Name)
		}
	}
	return out
}
