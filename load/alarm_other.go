//go:build !linux

package load

import "context"

// newAlarm returns the most precise alarm there is.
func newAlarm(context.Context) alarm { return newTimerAlarm() }
