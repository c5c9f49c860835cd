// Package restorecmd holds the commands that keep what is in force and put it back:
// checkpoint, revert, restore, and the guard process that does so for a recorder that
// was killed.
package restorecmd
