//go:build extract

package rules

import (
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/limit"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/record"
)

// hostRuns are the cases of the rules about the host: who uses its CPU, when, and
// what runs out. What a request costs the host is made up; the load is real. They
// were made on two cores.
func hostRuns() []recorded {
	ms := time.Millisecond
	steady := func(b burden, each time.Duration, rates ...float64) measuredCase {
		return measuredCase{service: serviceConfig{MaxOpen: 10, MaxIdle: 10, Warm: 10, Burden: &b}, maxConnections: 151,
			next: record.Climb(rates...), each: each, alone: true}
	}
	// What another program takes each second is of a host of 24 GiB.
	beside := func(mib int, rates ...float64) measuredCase {
		m := steady(burden{}, 6*time.Second, rates...)
		m.beside = mib
		return m
	}
	slow := func(m measuredCase) measuredCase { m.slowLog = true; return m }
	every := func(m measuredCase, interval time.Duration) measuredCase { m.interval = interval; return m }
	// 24 seconds with n requests each, of which some have others.
	seconds := func(n, from, to, others int) measuredCase {
		m := steady(burden{}, 0)
		m.seconds = slices.Repeat([]int{n}, 24)
		for i := from; i < to; i++ {
			m.seconds[i] = others
		}
		return m
	}
	limited := func(b burden, open, rate int, hold time.Duration) measuredCase {
		m := steady(b, 5*time.Second, float64(rate))
		m.service.MaxOpen, m.service.MaxIdle, m.service.Hold = open, open, hold
		return m
	}
	tasks := func(b burden, rate, most int) measuredCase {
		m := steady(b, 6*time.Second, float64(rate))
		m.tasks = most
		return m
	}
	// What a request computes is measured first, on a machine that others use too: the least of it.
	quota := func(cores float64, b burden, rates ...float64) measuredCase {
		m := steady(b, 6*time.Second, rates...)
		m.quota = cores
		return m
	}
	return []recorded{
		{name: "db-bound", m: slow(steady(burden{Query: 25 * ms}, 4*time.Second, 20, 66)), keep: "HW-01/fires HW-02/silent MES-06/fires"},
		{name: "fighting", m: slow(steady(burden{Query: 15 * ms, Spin: 12 * ms}, 5*time.Second, 20, 66)), keep: "HW-01/under HW-02/fires"},
		{name: "little-app", m: slow(steady(burden{Query: 21 * ms, Spin: 6 * ms}, 5*time.Second, 20, 66)), keep: "HW-02/under"},
		{name: "app-bound", m: slow(steady(burden{Query: ms, Spin: 24 * ms}, 5*time.Second, 20, 60)), keep: "HW-01/silent HW-02/silent OS-01/silent OS-02/silent"},
		{name: "light", m: measuredCase{service: serviceConfig{Lab: true, Defects: userapi.Tuned()}, maxConnections: 300, next: record.Climb(50, 200),
			each: 4 * time.Second, slowLog: true, alone: true, settings: userapi.Settings(userapi.Tuned(), 0)}, keep: "HW-01/silent HW-06/silent OS-01/silent OS-02/silent"},

		{name: "burst", m: seconds(40, 14, 15, 400), keep: "HW-07/fires"},
		{name: "small-burst", m: seconds(60, 14, 15, 172), keep: "HW-07/under"},
		{name: "steady", m: seconds(60, 0, 0, 0), keep: "HW-06/silent HW-07/silent MES-06/silent"},
		{name: "two-rates", m: seconds(20, 8, 14, 300), keep: "HW-07/silent"},

		{name: "fine", m: every(steady(burden{}, 4*time.Second, 50), 200*ms), keep: "MES-06/silent"},
		{name: "just-fine", m: every(steady(burden{}, 4*time.Second, 50), 360*ms), keep: "MES-06/under"},

		{name: "few-files", m: limited(burden{Files: 64}, 0, 250, 200*ms), keep: "OS-01/fires OS-02/silent"},
		{name: "files-left", m: limited(burden{Files: 200, Opened: 140}, 10, 60, 100*ms), keep: "OS-01/under"},
		{name: "few-tasks", m: tasks(burden{Task: 400 * ms}, 80, 48), keep: "OS-02/fires"},
		{name: "tasks-left", m: tasks(burden{Task: 400 * ms}, 30, 40), keep: "OS-02/under"},
		{name: "little-quota", m: quota(0.1, burden{Spin: 8 * ms}, 5, 40), keep: "OS-04/fires"},
		{name: "burst-quota", m: quota(0.2, burden{Spin: 80 * ms}, 1, 2), keep: "OS-04/fires"},
		{name: "quota-unused", m: quota(0.5, burden{Spin: ms}, 10, 30), keep: "OS-04/silent"},
		{name: "quota-left", m: quota(1, burden{Spin: 8 * ms}, 10, 40), keep: "OS-04/silent"},
		{name: "no-memory", m: steady(burden{Memory: 4, Space: 64}, 5*time.Second, 20, 120), keep: "HW-06/fires"},

		{name: "taken", m: beside(160, 20, 60), keep: "HW-10/fires"},
		{name: "not-taken", m: beside(0, 20, 60), keep: "HW-10/silent"},
		{name: "little-taken", m: beside(20, 20, 60), keep: "HW-10/silent"},
	}
}

// TestConstructQuota makes the cases of OS-04 just under the threshold: how long the kernel stops a
// group cannot be set.
//
//	go test -tags extract ./diagnose/rules -run TestConstructQuota
func TestConstructQuota(t *testing.T) {
	for _, from := range []string{"mariadb-little-quota", "mysql-little-quota"} {
		rec := recordedCase(t, "testdata/OS-04/fires/"+from+".txtar")
		found, _ := limit.CPUQuota{}.Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Errorf("%s is silent", from)
			continue
		}
		by := 0.045 / found[0].Impact.Share
		for _, s := range rec.FindAll(diagnose.Cgroup, cgroup.CPUThrottledPeriods) {
			first := s.Points[0].Value
			for i := range s.Points {
				s.Points[i].Value = first + by*(s.Points[i].Value-first)
			}
		}
		if w := wrongCase(diagnose.NewCase(rec, nil), "OS-04", "under"); w != "" {
			t.Errorf("%s: %s", from, w)
			continue
		}
		keepExtract(t, rec, nil, "OS-04", "under/"+from, "constructed: from fires/"+from+".txtar by scaling the periods that were "+
			"throttled to 4.5 % of the time, with TestConstructQuota\n")
	}
}
