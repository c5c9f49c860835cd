// Package guard lets a recording change a server's settings and restores all of them,
// whatever ends it.
//
// The one idea: a journal. Before a value of a server is changed, its original
// is on the disk, in a file of that server's own; whoever comes next and finds
// that no living process needs the change puts the value back. That is the
// recorder itself at its end ([Hold.Release]); a guard process when the recorder
// was killed ([Start], [Watch], [Legacy.Recover]); a person after a power cut
// ([Journals], [Restore]).
//
// A server's journal names who holds on to what. Recordings that run at once
// share it: a value is put back when the last one that needs it is gone, and
// its first original counts. What somebody else has changed meanwhile is left
// alone, as is a server that was restarted.
//
// The directory belongs to one user of one host. Recordings that do not share it see
// each other by locks at the server ([Hold.Claim]); the second changes nothing. A
// journal holds no password: it has the path of the option file, or the address and
// the user.
//
// Sessions copy some values when they begin and keep them: [Heirs] are those that do
// once the values are back.
//
// It runs on Linux. Sources: MySQL 9.7 manual "Locking Functions"; flock(2), rename(2), fsync(2), proc_pid_stat(5),
// random(4) boot_id.
package guard
