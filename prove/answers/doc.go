// Package answers keeps golden answers of a service and compares later ones with them:
// a change that makes a service faster must not make it answer otherwise.
//
// The one idea: an answer is a tree of places (status, headers, each path of its body),
// and what differs between asks of one service is volatile there and says nothing. So each
// request is asked twice, a second apart, and again under concurrency; the places that
// differ meanwhile are left out by their paths, the rest is compared: types, values, the
// order of lists, elements that are lost.
//
// Begin with [Asker.Record] and [Asker.Check]. Only GET and HEAD are sent, and only to
// addresses that a [load.Permit] allows; redirects are answers. A golden file is input
// that may lie: [Parse] is strict and bounded.
//
// Sources: RFC 9110 (idempotent methods, headers), RFC 8259 (JSON; the order of members
// has no meaning, that of elements has).
package answers
