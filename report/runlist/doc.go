// Package runlist shows all runs of a tuning as steps, the oldest first: what was changed,
// what came of it against the step before and the best so far, and what held it up.
package runlist
