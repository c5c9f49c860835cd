// Package findings words what was diagnosed and what is advised: evidence, cause, fix and
// what to expect of it, in the order in which to act.
package findings
