// Package limit has the rules about limits of the operating system: open files, processes and
// threads, CPU time.
package limit

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		Files{},
		Tasks{},
		CPUQuota{},
	}
}
