package watch

// helpLines lists all keys.
func (s *screen) helpLines() {
	s.line()
	s.line(piece{" keys", bold})
	for _, k := range [][2]string{
		{"← →", "a second back, on"}, {"shift ← →  or H L", "10 seconds"}, {"page up, down", "a minute"},
		{"home, end", "the oldest second; now, or the end of the run"},
		{"p, space", "pause or go on; in a replay play or stop"}, {"+ −", "speed of a replay: ×1 to ×60"},
		{"z", "a column a second, or the last 5 minutes"},
		{"tab, shift tab", "the next table, the one before"}, {"↑ ↓", "scroll the table"}, {"s", "sort it by the next column"},
		{"/", "only rows that hold a text; esc takes it away"}, {"1–9", "show a finding whole, with evidence and fix"},
		{"m", "mark a moment with a word"}, {"w", "keep what is seen as a run file, marks too"}, {"q, ctrl-c", "quit"},
	} {
		s.line(piece{"   " + padRight(k[0], 20), plain}, piece{k[1], dim})
	}
	s.line(piece{" tables: processes, statements, routes, database, nginx, varnish, redis and its", dim})
	s.line(piece{" commands, go, pools, services, cores, units, disks, network, findings, events,", dim})
	s.line(piece{" and all series there are", dim})
}
