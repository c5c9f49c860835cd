// Package rules lists the causes that kasoku can name: a package for each family of
// them, and in it one rule a file, whose name begins with the rule's id.
//
// Its one idea: a rule is a type that describes itself as data, a [diagnose.Doc] of
// evidence, cause, fix and when it keeps quiet, which `kasoku rules` prints.
// Thresholds are constants with their reason. No rule knows the name of a table, a route, a program or a driver:
// what it names comes from the evidence.
//
// Start at [All]. Each rule has recorded runs under testdata/ID in which it
// fires, in which it is silent, and in which it is just under its threshold.
//
// Ids, first thresholds and wordings come from the catalogue of bottlenecks
// that people found by hand in write-ups of load tests and tuning contests;
// what a counter means was measured on MariaDB 10.11.19 and MySQL 9.7.
package rules
