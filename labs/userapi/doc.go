// Package userapi is a small REST service with seeded defects: POST /users
// writes one row to MariaDB or MySQL, and how it does so can be made as bad as
// services in the field do it, one defect at a time.
//
// The defects go by the ids of kasoku's catalogue. [Tuned] has none of them,
// [Seeded] all that make the service slow. They change the database's settings, too:
// the tuned service raises max_connections, the seeded one leaves the server's default.
//
//	POOL-01  two idle connections are kept, all others are closed after one use
//	POOL-02  open connections are not capped below the server's limit
//	DRV-01   every statement is prepared, executed once and closed
//	DRV-04   a row is "saved" by UPDATE, SELECT and INSERT
//	DRV-05   every statement's text is written to the application's log
//
// Others show only when the service is initialised (POST /initialize) or started
// again; they are seeded by name:
//
//	IDX-08   initialise drops the table, and with it indexes that were added by hand
//	OPS-01   the service ends when the database refuses it at the start, instead of trying again
//	OPS-02   initialise alters a loaded table and updates it bucket by bucket
//	OPS-09   the count that GET /users/count returns is cached, and only initialise fills it
//
// [Serve] is the service; [Up] starts it with a private database.
package userapi
