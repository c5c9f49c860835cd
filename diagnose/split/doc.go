// Package split predicts what a service gives when its members are shared out over hosts in
// other ways than they were measured.
//
// The one idea: a host is a queue. What a request needs of each member's CPU was measured, so that
// each layout of the members is a network of such queues, whose throughput mean value analysis
// returns (M. Reiser, S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks",
// 1980). [Measure] reads a run, [Plan] judges layouts, [Predict] one. The present layout is
// calibrated to what was measured: what requests waited for beside CPU is a delay that stays.
//
// An interval has what seconds of the run differ by (a bootstrap over blocks of them) at the ends of
// what is assumed: what a round trip over the network takes, and whether clients pause. It does not have
// what the model leaves out: [Service.Blind] lists that. All times are seconds, CPU is in cores.
//
// Nothing is changed, and nothing is asked of a server.
package split
