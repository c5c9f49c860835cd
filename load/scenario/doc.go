// Package scenario is a framework for scored benchmarks, such as those of
// contests: it prepares a service and verifies it, loads it with users whose number
// rises with the score, validates its state afterwards, and says what that was worth.
//
// The one idea: a benchmark is a list of scenarios, and a [Scenario] is any value
// that has some of the methods Prepare, Load and Validate. Each gets a [Step], which
// is all that it needs to know of the benchmark: [Step.Score] and [Step.Fail] say
// how it goes, [Step.Workers] starts users that loop, [Step.Arrive] requests that
// come when they are due, however long answers take, and [Step.Record] keeps each
// request's times.
//
// The names are those of isucandar where there is one, for people know them. What a
// benchmark counts is given to a [Sink] each second. The package stores nothing, prints
// nothing and knows no protocol; the client of HTTP is in load/scenario/agent.
//
// Start at [New] and [Options]. Times of records are wall-clock times with a
// monotonic reading; times in results are since the start of [Benchmark.Run].
package scenario
