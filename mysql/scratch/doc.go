// Package scratch starts a private server of the same version as another one, copies a
// bounded part of its tables there, and lets it be asked how it would run statements.
//
// The one idea: what a server would do with an index that is not there can be asked of
// another server, and no one else is disturbed. What is asked is never the speed: the copy
// is small, and only the choices of the optimizer are those of the original.
//
// The private server is found as [command.TrustedPath] finds programs, has no network, no
// accounts and no option file, and ends with the process. Definitions of tables and
// statements are texts of others, so that root's private server runs as a user id that
// no account has ([command.Unused]), and none may read or write files elsewhere
// (secure_file_priv, NO_DIR_IN_CREATE). All that it keeps lies in one directory, whose parts
// are that user's alone. The directory goes at [Server.Close]; that of a killed process at the
// next start of kasoku ([private.SweepTemp]).
//
// Sources: MySQL 9.7 Reference Manual, Initializing the Data Directory, secure_file_priv,
// skip_grant_tables; MariaDB documentation, the same variables.
package scratch
