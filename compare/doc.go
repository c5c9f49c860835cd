// Package compare puts two measured runs side by side: what moved, by how much,
// and how sure that is.
//
// The one idea: with one run a side, the only repetition is the seconds within
// a run. A circular moving-block bootstrap draws blocks of neighbouring seconds
// of a step, on each side, and recomputes every figure from what it drew;
// percentiles come from merged histograms and are never averaged. The intervals
// so found speak for the seconds of these two runs. They say nothing of how
// much a third run would differ, so no row is called significant: a row is
// better, worse or unsure, and every output says "one run a side".
//
// Runs are comparable when they climbed the same steps; [Options].Step narrows
// two different ladders to a step that both have. Everything else that differs
// is listed: settings of the database, host, code, findings. Processes are
// matched by name, because their ids differ from run to run.
//
// Start at [Compare]; [Effect] judges one change tried alone.
//
// Units: durations are seconds in float64 inside rows, because rows hold ratios
// of them; ratios are 0..1; CPU is in cores. Times are offsets of each run's own
// clock.
//
// Source: D. Politis and J. Romano, "A circular block-resampling procedure for
// stationary data", 1992; percentile intervals as in B. Efron, R. Tibshirani, "An
// Introduction to the Bootstrap", 1993, chapter 13.
package compare
