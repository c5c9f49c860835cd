// Package profiles shows where in their code programs spent something: the functions that
// used most, their stacks, and what moved between two sides.
package profiles
