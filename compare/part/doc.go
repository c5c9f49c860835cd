// Package part cuts a stretch of time out of a run: what the load asked, what the access log and the slow log
// hold, what was said and what was sampled in these seconds alone.
//
// The one idea: a run file keeps counts and histograms by the second, so that the figures of a stretch are added
// up from them, never averaged or scaled. What is not kept by the second is absent, never that of the whole run:
// the score, the findings, a log's bytes, the percentiles of a run file of before schema 18.
//
// A stretch is of whole seconds of the run's clock. A request of a log belongs to the second in which it was
// logged, one of kasoku's own load to the second in which it was due.
package part
