// Package application has the rules about the program of the service itself: logs of requests,
// programs that it starts, requests that it sends to itself, requests
// that it confirms and drops, limits of its own, requests that poll, answers that contradict themselves, uploads that
// it holds in memory.
package application

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		RequestLog{},
		Forks{},
		SelfCalls{},
		DroppedWork{},
		Room{},
		Polling{},
		Population{},
		WholeUploads{},
	}
}
