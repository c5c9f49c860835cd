// Package tuning holds what tunes isuumo without a change of code, in files that
// a person can read: indexes.sql, my.cnf and nginx.conf.
//
// The one idea: the files are those of the tuned service, and a line that mends a
// defect of the catalogue carries its id. Seeding the defect leaves the line out.
package tuning
