package logsize

import (
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "log".
const (
	Size = "size"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name:    Name,
	Role:    observe.RoleLog,
	Always:  true,
	Records: "how long the log files are, when they were rotated or cut",
	From:    "`stat`",
	Rights:  "the directory of the log",
	Lost:    "which lines of a log belong to which second",
	Signals: []observe.Signal{
		{Key: Size, Unit: "bytes", Entity: "log file", Label: "size"},
	},
}
