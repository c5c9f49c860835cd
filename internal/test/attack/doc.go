// Package attack holds the tests that treat kasoku as an attacker, or a broken host,
// would: local users who lie, hostile servers, damaged logs and run files, full disks,
// too little memory, signals and kills at random moments.
//
// The one idea is that of before and after: each attack takes a [snapshot] of the
// settings and sessions of the servers, of files, processes and sockets, runs the real
// program, and wants the same snapshot when it has ended. Each run of the program is
// bounded in time and output, must not panic, and prints no control bytes of others.
//
// `go test` runs a small part. `make attack` runs all (KASOKU_ATTACK=1), within 15
// minutes. What is random comes from one seed, which is printed;
// KASOKU_ATTACK_SEED=N repeats it. docs/security.md has the threat model, and
// names the test that holds each line of it.
package attack
