// Package kataribe does what the program kataribe 0.4.1 does: it reads an access
// log by a regular expression that kataribe.toml gives, groups the requests by
// its bundles and replaces, and prints rankings and the slowest requests. [Run]
// takes kataribe's arguments.
//
// The one idea: the output is kataribe's to the byte wherever that is right, and
// the same each time where it is random there. So every duration is counted
// (value → how often) instead of kept, which is exact and bounded; and though
// blocks of the log are read side by side, sums are added up in the order of the
// lines, because a mean of three digits shows in which order floating point
// numbers were added. Requests that tie are ordered by [rank].
//
// Durations are in the unit of the log times 10^scale, which people take for
// seconds. What is different on purpose is listed in docs/compat.md.
//
// Source: the behaviour of kataribe 0.4.1, https://github.com/matsuu/kataribe.
package kataribe
