// Package isuumo holds the words that all parts of the lab isuumo share: its
// rows, its search conditions, its limits, and the defects that can be seeded.
//
// isuumo is a shop for chairs and a search for flats that a chair fits into: the
// problem of the qualifying round of ISUCON10, built anew. What a part of it does
// is in the directory of that name:
//
//	data      makes the rows, reads and writes them in the contest's formats
//	model     what the API has to answer, in plain loops: the reference
//	queries   the service as it was shipped: every answer by SQL
//	memory    the service tuned: answers from memory, the database as the record
//	app       either of them as a process
//	request   what both of them take from a request, and refuse
//	sqlfile   the files that /initialize runs
//	tuning    the indexes, my.cnf and nginx.conf of the variants
//	web       the pages and pictures
//	stack     database, nginx and service together
//	story     the contest's write-up as steps of the lab
//	conformance
//	          every row of the interface with its traps, asked of a running service
//	bench     the benchmark
//	faults    a proxy that spoils answers, to test the benchmark
//
// Lengths are in centimetres, prices and rents in yen, latitudes and longitudes in
// degrees. Rows are data: one that others may see is not changed.
//
// Source: the public description, schema and benchmark of ISUCON10's qualifying
// round.
package isuumo
