// Package diagnose turns what a run recorded into findings: each names one cause, quotes its
// evidence and says what to do about it.
//
// Its one idea is the [Rule]: it reads a [Case] and returns findings, or says with figures why
// it has none. [Diagnose] asks all rules, puts the findings into the order in which to fix
// them and writes the verdict from the clauses that they give. The rules themselves live in
// diagnose/rules; this package knows none of them.
//
// What a case knows of one subject is asked there: [Case.Counters], [Case.Statements],
// [Case.Processes], [Case.Hosts], [Case.Lines]; [Case.Quote] makes evidence of it.
//
// A Case has a [Focus], chosen by [FocusOf]: the first load step that broke, else the one
// whose latency rose most, else the one with the highest rate; of a run without steps its
// longest stretch of load. Evidence is taken over the focus, so that the quiet steps of a
// ladder do not dilute it. Whatever may be missing from a recording may be missing here: every
// helper that reads a source returns an error that says why there is nothing to read, and a
// rule passes it on as a blind [kasoku.Silence].
//
// Nothing here does I/O. Units and clock are those of package kasoku: offsets since the run's
// start, ratios 0..1, CPU in cores, sizes in bytes.
//
// Sources: Little, "A Proof for the Queuing Formula L = λW", 1961; the manuals of MariaDB
// 10.11 and MySQL 9.7 on status variables. Where a server does not do what its manual says,
// the place that relies on it says so.
package diagnose
