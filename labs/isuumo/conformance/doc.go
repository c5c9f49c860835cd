// Package conformance asks a running service of isuumo for every row of the
// contest's interface, with all its traps, and compares each answer with what the
// reference in package model says. It needs the rows that /initialize leaves, and
// takes a second or so.
//
// The one idea: [Check] holds what the service must hold now, changes it as it
// uploads and buys, and asks again. Answers are compared as a whole, so that a key too
// many is as wrong as a row too few.
//
// It resets the service at its begin and at its end. No one else may write meanwhile.
//
// Source: the public application of ISUCON10's qualifying round; where it was
// unlike on MariaDB and MySQL, it is taken as on MariaDB: a polygon that is none holds
// nothing.
package conformance
