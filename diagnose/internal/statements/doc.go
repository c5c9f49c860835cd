// Package statements reads what rules need to know of the text of statements, and finds
// those that a program runs in a loop.
package statements
