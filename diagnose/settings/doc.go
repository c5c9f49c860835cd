// Package settings judges the settings of a MySQL or MariaDB server: forty checks (MYS-01 to
// MYS-40), and the settings that trade durability for speed (DBC-01 to DBC-05) with their
// price.
//
// The one idea: what a check sees and what is done about it are two things. A check compares a
// figure with a threshold. A variable is decided once, by the first check that sets it
// (look.to), from what the server has done, from the host's memory and from variables decided
// before it; its own value decides only whether it has to change. So no two pieces of advice
// contradict each other, none proposes the value in force, and a server that has taken all of
// them gets no other one.
//
// It reads over any connection: what the account may not see is an [Unseen] with the GRANT
// that would show it. Nothing is changed. Memory is that of the control group or the host that
// the server runs in; where that is unknown, nothing that takes more memory is proposed.
//
// Figures are taken over the load where there is one (two readings, or a run), else since the
// server was started. Start at [Read] or [FromRecording], then [Examine]. Sizes are bytes,
// times are time.Duration, shares are 0..1.
//
// Sources: MySQL 9.7 manual, "Server System Variables", "InnoDB Startup Options and System
// Variables", "How MySQL Uses Memory"; MariaDB documentation, "Server System Variables",
// "InnoDB System Variables". docs/advise.md lists formulas and thresholds.
package settings
