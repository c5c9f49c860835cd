// Package doctorcmd holds doctor, which checks what a run can see on this host and prints
// the line that grants what is missing, and advise, which judges the settings of a
// database. Both change nothing.
package doctorcmd
