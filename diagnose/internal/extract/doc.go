// Package extract keeps of a recorded run what one rule of diagnose reads, as a
// small text file that a test can hold and a person can review.
//
// Its one idea: a txtar archive whose files are the tables of a
// [kasoku.Recording]. [Write] makes one and leaves out what names a machine:
// host names, paths, boot ids, output. [Parse] gives the recording back; what a
// file leaves out is empty. A second run, the baseline of a comparison, stands
// beside the first below baseline/. Runs that repeat one of them stand below
// repeat1/ … and baseline1/ …: [WriteGroup], [ParseGroup].
//
// The files: run.json, load.json and summary.json hold one object; steps.json, seconds.json,
// endpoints.json, queries.json, messages.json, saves.json, logs.json,
// rowchecks.json, phases.json, configs.json, events.json, gaps.json, joins.json,
// callers.json, plans.json, tables.json, transactions.json, lockwaits.json,
// deadlocks.json, traces.json and slowest.json one record a line, with the field names of package kasoku and
// durations in nanoseconds;
// histograms are base64 of their own encoding. series.tsv holds one series a line: host, source, name,
// instance, kind, unit, and its points as microseconds:value. settings.tsv
// holds host, scope, name and value.
//
// Of the load's histograms only the latency is kept for each second; send delay
// and service time are kept once for each step and target, in its first second.
//
// Source: golang.org/x/tools/txtar for the format of the archive.
package extract
