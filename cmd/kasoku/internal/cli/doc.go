// Package cli is what the commands of kasoku share: the world that they touch (Env), how
// they end (errors with exit codes and hints), their flags for databases, runs and
// formats, and how an answer is printed.
//
// A command is a function NewNAME in a package beside this one; package main puts them
// together. Commands print to Env's outputs and return errors; [Env.Finish] turns an
// error into the exit code: 0 good, 1 the answer is bad, 2 usage, 3 could not run.
package cli
