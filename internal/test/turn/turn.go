// Package turn shares out the cases of long tests over the commits: `make test` runs a quarter
// of them, and says by KASOKU_TURN, 0 to 3, which; without it all are run.
package turn

import (
	"hash/fnv"
	"os"
	"strconv"
	"testing"
)

// turns is in how many commits in a row each case is met once, more or less.
const turns = 4

// Takes reports whether a case is run now, by its name.
func Takes(name string) bool { return taken(name, os.Getenv("KASOKU_TURN"), turns) }

// First reports whether the first of two servers is the one that a test meets now, by its name: the other
// is met in the next turn. both is true without turns.
func First(name string) (first, both bool) {
	turn := os.Getenv("KASOKU_TURN")
	if n, err := strconv.Atoi(turn); err != nil || n < 0 || n >= turns {
		return true, true
	}
	return taken(name, turn, 2), false
}

// Wait skips a test unless it is its turn.
func Wait(t testing.TB) {
	t.Helper()
	if !Takes(t.Name()) {
		t.Skip("it is not the turn of this case: without KASOKU_TURN all are run")
	}
}

// taken reports whether a case is run in a turn, of which so many run each case once. Neighbours in a table
// have names that differ in a letter, and the low bits of their sums go in step.
func taken(name, turn string, of int) bool {
	n, err := strconv.Atoi(turn)
	h := fnv.New32a()
	h.Write([]byte(name))
	return err != nil || n < 0 || n >= turns || int(h.Sum32()>>8)%of == n%of
}
