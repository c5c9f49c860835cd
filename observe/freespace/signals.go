package freespace

import (
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "space".
const (
	Free   = "free"
	Growth = "growth"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name: Name,
	Role: observe.RoleHost,
	Records: "room on the disks of the slow log and of the run file, growth of the slow log in a " +
		"second; below `min_free` the slow log is put back and the run goes on",
	Rights: "the server on this host",
	Lost:   "the brake of the slow log before the disk is full",
	Signals: []observe.Signal{
		{Key: Free, Unit: "bytes", Entity: "directory", Label: "free"},
		{Key: Growth, Unit: "bytes", Entity: "log file", Label: "growth of the slow log in a second"},
	},
}
