// Package comparison shows two sides of runs: what moved, by how much and how sure that is.
// It judges nothing; package compare does.
package comparison
