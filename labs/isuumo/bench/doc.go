// Package bench is the benchmark of isuumo: phases, levels, users, limits and
// scoring of the contest, and checks that leave no gap.
//
// The one idea: everything that the service may ever answer follows from rows that
// are known beforehand, and from which uploads and purchases were begun and
// confirmed by when. So every answer under load is checked as a whole: its rows with
// all fields, their order, that none is missing, the count, and what may be sold out
// by now. After the load, all rows are read once more, and the stock is counted by
// buying what is left.
//
// With [Options.Compat] it makes the checks of the contest's own benchmark instead,
// no more and no less: purchases that fail are not reported, features are never
// asked for under load, crawlers may be answered anything, and five queries of each
// kind verify the service.
//
// A point is a purchase of a chair, or a request for an estate's documents. An
// answer that is wrong costs 50 of them and ten such end the run, as does one
// upload that fails.
//
// Start at [New]. Times are those of package scenario, which runs it.
//
// Source: the public benchmark of ISUCON10's qualifying round.
package bench
