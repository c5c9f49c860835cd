package userapi

import "github.com/kasoku/kasoku/labs/writeup"

// Story returns the write-up, whose steps [StepOf] has. The load is 1,000 requests a
// second for 10 s, evenly spaced, as the author's was.
func Story() *writeup.Story {
	const (
		limit = "two cores are at their limit at this rate: the author's eight were not"
		storm = "from a thousand connections at once two cores do not recover: more requests come than end"
	)
	return &writeup.Story{
		Lab: "userapi", About: "why does a service that writes one row fail at 1,000 requests a second?",
		Figures: []writeup.Figure{
			{Key: "success_percent", Name: "answered well", Unit: "%"},
			{Key: "mean_latency_ms", Name: "mean latency", Unit: "ms", Less: true},
		},
		Steps: []writeup.Step{
			{Name: "default", Did: "the pool and the server as they come", Author: []float64{30.50, 356.8}},
			{Name: "idle-1000", Saw: "500s, and “Too many connections” in the log", Did: "SetMaxIdleConns(1000)",
				Against: []string{"default"}, Author: []float64{99.44, 51.9}, Differs: limit},
			{Name: "idle-10000", Saw: "56 requests still fail", Did: "SetMaxIdleConns(10000)",
				Against: []string{"idle-1000"}, Author: []float64{91.87, 129}, Differs: limit},
			{Name: "max-connections", Saw: "max_connections is 151", Did: "SET GLOBAL max_connections = 1000",
				Against: []string{"idle-10000", "default"}, Author: []float64{100, 30.3}, Differs: storm},
			{Name: "idle-removed", Did: "SetMaxIdleConns taken out again (control)", Against: []string{"max-connections"},
				Expect: writeup.Worse, Differs: storm},
		},
	}
}

// StepOf returns the state of a step of the story. All of it has the mapper, its log and its
// prepares, as the author's service had.
func StepOf(name string) (d Defects, k Knobs) {
	d = Seeded()
	switch name {
	case "idle-1000":
		k.MaxIdle = 1000
	case "idle-10000":
		k.MaxIdle = 10_000
	case "max-connections":
		k.MaxIdle, k.MaxConnections = 10_000, 1000
	case "idle-removed":
		k.MaxConnections = 1000
	}
	return d, k
}
