// Package provecmd holds the commands that ask a server again what a run has shown: explain
// asks for plans, probe for each endpoint alone, try makes a proposed change, measures it and
// takes it back, and answers compares what the service answers with golden answers.
package provecmd
