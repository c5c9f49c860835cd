// Package userapi is a small REST service with seeded defects: POST /users
// writes one row to MariaDB or MySQL, and how it does so can be made as bad as
// services in the field do it, one defect at a time.
//
// The defects go by the ids of kasoku's catalogue. [Tuned] has none of them,
// [Seeded] has all. They reach into the database's settings too: the tuned
// service raises max_connections, the seeded one leaves the server's default.
//
//	POOL-01  two idle connections are kept, all others are closed after one use
//	POOL-02  open connections are not capped below the server's limit
//	DRV-01   every statement is prepared, executed once and closed
//	DRV-04   a row is "saved" by UPDATE, SELECT and INSERT
//	DRV-05   every statement's text is written to the application's log
//
// [Serve] is the service; [Up] starts it with a private database.
package userapi
