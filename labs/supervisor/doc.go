// Package supervisor keeps programs running as systemd does, for machines that
// have no systemd: labs and tests start services with it, stop them, and let
// them die.
//
// Its one idea: what kills services after a reboot is not that a program ends
// but that its supervisor gives it up. A [Unit] that fails is started again after
// RestartAfter, at most StartLimitBurst times within StartLimitInterval; then its
// state is [Failed] with the result [StartLimitHit], and it stays down until
// somebody resets it. The defaults are systemd's: 100 ms, 5 starts in 10 s.
//
// A unit's log holds what the program prints and, between it, the supervisor's
// own lines in the words of systemd's journal, so that what reads the one reads
// the other. There are no dependencies, sockets or timers.
//
// Times are of the monotonic clock, those in the log of the wall clock. Sources:
// systemd.service(5) and systemd.unit(5) of systemd 252, RestartSec=,
// StartLimitIntervalSec=, StartLimitBurst=; messages of its src/core/service.c
// and src/core/unit.c.
package supervisor
