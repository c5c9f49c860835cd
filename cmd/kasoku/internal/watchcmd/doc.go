// Package watchcmd holds watch, which draws what is sampled now or a run file second by
// second, and export, which sends the same to Graphite, Prometheus, Mackerel and tables.
package watchcmd
