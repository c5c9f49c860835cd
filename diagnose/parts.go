package diagnose

// A Case answers questions about one run. Those about one subject are of a type of their
// own, which is the case seen from there: it holds nothing else, and costs nothing.

// Counters returns what the sampled series say over the focus.
func (c *Case) Counters() Counters { return Counters{c} }

// Statements returns what statements cost, and which endpoints run them.
func (c *Case) Statements() Statements { return Statements{c} }

// Processes returns the programs that were sampled.
func (c *Case) Processes() Processes { return Processes{c} }

// Hosts returns how busy the hosts were, and which of their limits came near.
func (c *Case) Hosts() Hosts { return Hosts{c} }

// Lines returns what the logs of the application and of nginx say.
func (c *Case) Lines() Lines { return Lines{c} }

// Quote returns what makes evidence of what the run has.
func (c *Case) Quote() Quote { return Quote{c} }

// Counters are the series of a case.
type Counters struct{ c *Case }

// Statements are the statements of a case, with the requests' time and who runs them.
type Statements struct{ c *Case }

// Processes are the programs of a case.
type Processes struct{ c *Case }

// Hosts are the hosts of a case and their limits.
type Hosts struct{ c *Case }

// Lines are the lines of logs of a case.
type Lines struct{ c *Case }

// Quote makes evidence, and words for times, of a case.
type Quote struct{ c *Case }
