// Package fleet is what the hosts of a fleet say to one another: who they are, what they
// may be asked, and how one load is shared out to them.
//
// The one idea: a host is asked and answers; it never acts by itself, and it does only what
// its own flags allow. Who coordinates asks each host by its name (subject
// kasoku.ask.HOST.VERB): who it is, what its clock shows, to send a share of a load, what
// that has counted since the last time, to stop. A host may subscribe to the questions for
// itself, publish answers to them, and nothing else. No question runs a command, and none reads
// a file but a log that the host's own pattern names.
//
// Messages are JSON. Histograms are in the encoding of internal/histogram, so they are
// merged, and percentiles never are. Times are nanoseconds; those named Clock are of the
// host's CLOCK_MONOTONIC, which [Exchange] relates to that of the host that asks.
//
// What arrives is not trusted: [Order.Check] is what a host holds against an order,
// [Account] what a coordinator holds against counts.
package fleet
