// Package provecmd holds the commands that ask a server again what a run has shown:
// explain asks for plans, probe for each endpoint alone, and try makes a proposed
// change, measures it and takes it back.
package provecmd
