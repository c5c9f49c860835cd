// Package live is a service that runs here, as an autopilot changes it: indexes and variables
// of its database, directives in files of nginx that kasoku.toml names.
//
// The one idea: what is in force stands on the disk before it is. A change that is not decided
// on is also held by package guard, so that it goes when kasoku is killed; what is kept, and
// what files held before, is in a journal of the directory of runs, by which the next autopilot
// goes on and [Service.TakeBack] puts all back.
//
// A Service is not safe for concurrent use; a lock keeps a second one away.
package live
