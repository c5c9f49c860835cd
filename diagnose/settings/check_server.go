package settings

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

func serverChecks() []*check {
	return []*check{
		{
			id: "MYS-04", area: areaServer, title: "time that the figures cover", weight: remark,
			formula: mysql.Uptime, threshold: "< 1 d, without a window of load", run: checkUptime,
		},
		{
			id: "MYS-06", area: areaQueries, title: "what counts as slow", weight: remark,
			formula: "long_query_time", threshold: "> 10 s", run: checkLongQueryTime,
		},
		{
			id: "MYS-07", area: areaQueries, title: "slow log", weight: remark,
			formula: "slow_query_log", threshold: "OFF", run: checkSlowLog,
		},
		{
			id: "MYS-05", area: areaQueries, title: "share of slow statements", weight: costly,
			formula: "Slow_queries / Questions", threshold: "> 5 %", run: checkSlowQueries,
		},
	}
}

// checkUptime says so when the figures are those of a server that has seen little.
func checkUptime(l *look) {
	up := l.s(mysql.Uptime)
	if l.Grown != nil {
		l.well("the figures are those of %s", l.over())
		return
	}
	if up >= day.Seconds() {
		l.well("%s", sinceWords(l.span()))
		return
	}
	l.fire(found{
		title: "The figures are those of a server that was started lately", measured: sinceWords(l.span()),
		level: kasoku.High,
		gain:  "Advice that fits the load",
		note:  "Ask over a load: `kasoku advise --for 60s` while it runs, or `kasoku advise RUN`.",
	})
}

// longQueryTime is proposed where statements are called slow only later than that.
const longQueryTime = 1

func checkLongQueryTime(l *look) {
	v := l.v("long_query_time")
	if v <= 10 {
		l.well("%s s", unit.Plain(v))
		return
	}
	l.fire(found{
		title: "Slow statements are not logged before they are very slow", measured: unit.Plain(v) + " s",
		level:   kasoku.High,
		changes: l.to("long_query_time", wholeWords(longQueryTime)), gain: "The slow log shows what is slow",
	})
}

func checkSlowLog(l *look) {
	if on(l.need("slow_query_log")) {
		l.well("ON")
		return
	}
	l.fire(found{
		title: "The slow log is off", measured: "OFF", level: kasoku.High, changes: l.to("slow_query_log", "ON"),
		gain:  "Statements that take longer than long_query_time are named",
		price: "A line on disk for each such statement",
		note:  "`kasoku record` and `kasoku run` switch it on for their run and back off.",
	})
}

// slowFrom is the least long_query_time whose statements can be called slow.
const slowFrom = 0.1

func checkSlowQueries(l *look) {
	limit, slow, all := l.v("long_query_time"), l.g(mysql.SlowQueries), l.g(mysql.Questions)
	switch {
	case limit < slowFrom:
		l.blindly(fmt.Sprintf("long_query_time is %s s, so that Slow_queries counts statements that are not slow",
			unit.Plain(limit)), "")
	case all < few:
		l.well("only %s statements", countWords(all))
	case slow/all <= 0.05:
		l.well("%s of %s", unit.Percent(slow/all), countWords(all))
	case l.Grown == nil && slow*limit > l.s(mysql.Uptime)*l.s(mysql.MaxUsedConnections):
		l.blindly(fmt.Sprintf("Slow_queries is %s: so many of %s s do not fit into %s on %s connections at most; they were "+
			"counted while long_query_time was lower, as during a recording", countWords(slow), unit.Plain(limit),
			sinceWords(l.span()), countWords(l.s(mysql.MaxUsedConnections))), "")
	default:
		l.fire(found{
			title: "Many statements are slow", measured: fmt.Sprintf("%s: %s of %s over %s s", unit.Percent(slow/all),
				countWords(slow), countWords(all), unit.Plain(limit)),
			level: kasoku.High, counted: true, gain: "Latency of what waits for them",
			note: "No setting mends this: `kasoku slowlog` names them, and indexes or fewer rows make them fast.",
		})
	}
}
