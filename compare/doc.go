// Package compare puts two sides of measured runs side by side: what moved, by how
// much, and how sure that is.
//
// The one idea: what repeats is what is judged. With several runs a side each
// figure is taken once a run, sides are compared by medians, and [Samples] says
// what they show: Mann-Whitney's test, an effect size, and how many more runs
// would settle it. With one run a side, the only repetition is the seconds within
// a run. A circular moving-block bootstrap draws blocks of neighbouring seconds
// of a step, on each side, and recomputes every figure from what it drew;
// percentiles come from merged histograms and are never averaged. The intervals
// so found speak for the seconds of these two runs. They say nothing of how
// much a third run would differ, so no row is called significant: a row is
// better, worse or unsure, and every output says "one run a side". Repeated runs
// of one unchanged thing show what two runs differ by anyway, the noise floor; one
// run a side is held against it where there are some.
//
// The verdict rests on one row, [Comparison.Primary]. The others are printed beside
// it: what the mechanism did is as worth knowing as what the score did.
//
// Runs are comparable when they climbed the same steps; [Options].Step narrows
// different ladders to a step that all have. Everything else that differs is
// listed: code, settings, configuration, host, findings. Processes are matched
// by name, because their ids differ from run to run.
//
// Start at [Compare]; [Samples] judges plain figures, [Effect] one change tried
// alone.
//
// Units: durations are seconds in float64 inside rows, because rows hold ratios
// of them; ratios are 0..1; CPU is in cores. Times are offsets of each run's own
// clock.
//
// Source: D. Politis and J. Romano, "A circular block-resampling procedure for
// stationary data", 1992; percentile intervals as in B. Efron, R. Tibshirani, "An
// Introduction to the Bootstrap", 1993, chapter 13. The statistics of repeated
// runs: docs/statistics.md.
package compare
