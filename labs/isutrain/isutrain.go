// Package isutrain is a small service that sells seats of trains, as the final of ISUCON9
// had one: people look for trains, look at seats, reserve, pay, cancel. What is paid is
// known to a payment service, a process of its own.
//
//	OPS-04  trains come in the order in which their table stores them, which has no key
//	IDX-01  timetable, seats, fares and reservations have no index
//	QRY-06  a search asks for each train sixteen times more
//	QRY-05  seats are asked for one by one, each with its reservation and that one's stations
//	LCK-01  a reservation locks all others of its train, and the seats of each
//	LCK-05  the payment service is asked while the row of the reservation is locked
//	APP-01  a line of the log for each seat that is shown
//	OPS-03  the database is in +08:00
//	HW-10   a program that is none of the service takes a twelfth of the host's memory
//	OPS-11  /initialize answers with ten days, with which the benchmark stays small
//
// Seats are never sold twice: who sells seats of a car holds the car's row of car_guard, or
// with LCK-01 all reservations of the train. Changes of the story are controls: OPS-04K gives
// train_master a key while its order is not said, OPS-04D drops that key
// again.
//
// [Lab] is the lab's table.
package isutrain

import (
	"context"
	"database/sql"
	_ "embed" // nginx.conf
	"time"

	"github.com/kasoku/kasoku/labs/kit"
)

//go:embed nginx.conf
var nginxConf string

// Lab returns the lab's table.
func Lab() *kit.Lab {
	return &kit.Lab{
		Name:  "isutrain",
		About: "a booking service: rows without order, N+1 over trains and seats, locks, payments",
		Defects: []kit.Defect{
			{ID: "OPS-04", Where: "service", About: "trains come as their table stores them", Object: `train_master`,
				Brings: []string{"IDX-01", "IDX-03"}}, // without any key
			{ID: "IDX-01", Where: "database", About: "no index but the keys of users and reservations",
				Object: `timetable|seat_|fare|reservations`, Brings: []string{"IDX-03", "IDX-04", "HW-01"}},
			// A loop of one level, of many classes: as a finding it is QRY-05.
			{ID: "QRY-06", Where: "service", About: "a search asks for each train sixteen times", Object: `search`,
				Also: "QRY-05", Brings: []string{"QRY-04", "QRY-01"}},
			{ID: "QRY-05", Where: "service", About: "seats are asked for one by one", Object: `seats|reserve`,
				Brings: []string{"QRY-04", "QRY-06"}},
			{ID: "LCK-01", Where: "service", About: "a reservation locks all of its train",
				Object: `reserv|reserve|query`, Brings: []string{"LCK-02", "QRY-05"},
				Slight: "the reservations of a train are some ten in half a minute, and locked for milliseconds"},
			{ID: "LCK-05", Where: "service", About: "payments are made inside of transactions",
				Object: `commit|cancel`, Brings: []string{"LCK-01"}},
			{ID: "APP-01", Where: "service", About: "a line of the log for each seat"},
			{ID: "OPS-03", Where: "database", About: "the database is in another zone than the host",
				Object: `clock`, Apart: "a remark, which comes after all that costs time"},
			{ID: "HW-10", Where: "host", About: "an editor's language server takes memory", Object: `memory`,
				Apart: "it is none of the service's, and a remark"},
			{ID: "OPS-11", Where: "service", About: "/initialize answers with ten days", Object: `initialize`,
				Apart: "where something is busy nothing shows it"},
		},
		Controls: []kit.Defect{
			{ID: "OPS-04K", Where: "database", About: "train_master gets a key, whose order within a minute is another"},
			{ID: "OPS-04D", Where: "database", About: "and loses it again, which brings no order back"},
		},
		Variants: variants(), Story: story(),
		Args: listArgs, Fill: fillTables, Serve: serveService, Beside: servePayments,
		Neighbour: kit.Neighbour{Name: "gopls", Seed: "HW-10", Run: takeMemory},
		Nginx:     func(d kit.Set) string { return kit.Without(nginxConf, d) },
		Load:      kit.Load{Least: 30 * time.Second}, // as shipped a search takes seconds
	}
}

// variants are the states of the lab.
func variants() []kit.Variant {
	initial := kit.Set{"OPS-04", "IDX-01", "QRY-06", "QRY-05", "LCK-01", "LCK-05", "APP-01"}
	return []kit.Variant{
		{Name: "initial", About: "as it was shipped", Defects: initial},
		{Name: "hurried-key", About: "initial, and train_master gets a key", Defects: append(initial[:7:7], "OPS-04K")},
		{Name: "dropped-key", About: "and loses it again", Defects: append(initial[:7:7], "OPS-04D")},
		{Name: "clocks", About: "initial, and the database is in +08:00", Defects: append(initial[:7:7], "OPS-03")},
		{Name: "indexed", About: "an order in each statement, and indexes", Defects: initial[2:]},
		{Name: "quiet", About: "and no line for each seat", Defects: initial[2:6]},
		{Name: "ten-days", About: "tuned, and /initialize says ten days", Defects: kit.Set{"OPS-11"}},
		{Name: "tuned", About: "an order, indexes, few statements, short locks", Defects: kit.Set{}},
	}
}

// listArgs are those of the database: what was acknowledged outlives its process, not the
// machine.
func listArgs(d kit.Set, _ string) []string {
	out := []string{"--skip-log-bin", "--innodb-flush-log-at-trx-commit=2"}
	if d.Has("OPS-03") {
		out = append(out, "--default-time-zone=+08:00")
	}
	return out
}

func fillTables(ctx context.Context, db *sql.DB, d kit.Set) error { return fillDays(ctx, db, d, days) }
