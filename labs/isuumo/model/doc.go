// Package model says what the API of isuumo has to answer, in plain loops over
// all rows: the reference that services are judged by.
//
// The one idea: each rule of the contest is one function that a person can check
// against the contest's description, and that is not optimised. A rule takes
// the rows that count at one moment; when rows come, are sold out and go is for
// whoever asks.
//
// Lists are in the order popularity DESC, id ASC, except those of low prices, which
// are in the order price ASC, id ASC. They are never nil, hold pointers to the rows
// that were given, and belong to the caller. All functions are safe for concurrent
// use as long as the rows are not changed.
//
// Source: the public application and benchmark of ISUCON10's qualifying round.
package model
