// Package unit parses and prints what kasoku measures and is asked for: rates,
// durations, sizes, ratios, changes. Every output form, terminal, HTML and prose,
// prints its numbers through it, so that the same value reads the same
// everywhere.
//
// The one idea is three significant digits: a measured value shows three of
// them, but its whole part is never cut and it never has more than two decimals:
// 0.98, 8.90, 56.6, 357, 1,116. Counts are exact. What is small but not zero is
// never printed as zero ("< 0.01"), what is not quite all is never printed as
// all (99.97 %), and what was not measured is [Missing], never zero.
//
// In a table all cells of a column share one unit; see [Durations] and [Sizes].
// In prose a number carries its unit after a space: 137 ms.
//
// Rounding happens here and once. Inside kasoku values stay in base units:
// time.Duration, bytes, ratios 0..1, requests per second.
//
// Names that people type are asked for, too: [Nearest] finds the one that was meant.
//
// Sources: ISO 80000-1 and IEC 80000-13 for kB and KiB; the rate grammar is that
// of Vegeta's -rate flag.
package unit
