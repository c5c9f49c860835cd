// Package advice has fixes that rules of several families propose: indexes for the
// statements of a run, and MariaDB's cache of answers.
package advice
