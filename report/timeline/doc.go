// Package timeline draws the charts of a run over its one clock, a column a second; a run
// of more than some 1,200 seconds has several in each. A [report.Timeline] is data: pages
// draw it, terminals print its sparks.
//
// The charts lie by what they show: load, one host, database, servers, programs in Go. A
// second without a sample is NaN, and a gap in the drawing.
package timeline
