// Package attackcmd holds the commands with Vegeta's interface: attack, report, encode,
// plot and dump. Their flags may begin with one dash, and their outputs are Vegeta's to
// the byte where no other form is asked for.
package attackcmd
