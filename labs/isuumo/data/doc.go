// Package data makes the rows of isuumo, and reads and writes them in the
// contest's formats.
//
// The one idea: everything comes from a seed. [Generate] gives the same rows for the
// same seed and size on every machine, without network, with the counts and
// distributions that the contest had. The words in them are our own. [WriteService]
// writes what a service needs to start, [Emit] what the contest's own benchmark
// needs to run against our rows, [Load] reads the contest's files back. [WriteImages]
// draws the pictures that the thumbnails name.
//
// Prices and rents are in yen, lengths in centimetres, places in degrees with six
// decimals, so that their text with six decimals, as SQL statements hold it, is the
// same place.
//
// Source: the public data generator of ISUCON10's qualifying round for counts,
// distributions and formats.
package data
