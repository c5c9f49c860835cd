package kasoku

// A ProfileKind is what a profile counts.
type ProfileKind string

// The kinds of profiles, in the order in which they are printed.
const (
	ProfileCPU       ProfileKind = "cpu"       // CPU time while it was taken
	ProfileWaiting   ProfileKind = "waiting"   // waiting of threads and goroutines meanwhile, seen from outside
	ProfileAllocs    ProfileKind = "allocs"    // memory that was allocated meanwhile
	ProfileHeap      ProfileKind = "heap"      // memory in use at its end
	ProfileMutex     ProfileKind = "mutex"     // waiting for locks meanwhile
	ProfileBlock     ProfileKind = "block"     // waiting for channels, locks and other goroutines meanwhile
	ProfileGoroutine ProfileKind = "goroutine" // goroutines at its end
)

// ProfileKinds lists the kinds in their order.
func ProfileKinds() []ProfileKind {
	return []ProfileKind{ProfileCPU, ProfileWaiting, ProfileAllocs, ProfileHeap, ProfileMutex, ProfileBlock, ProfileGoroutine}
}

// A Profile is where in its code a program spent something while it was under load,
// as its runtime, or the kernel, sampled it.
type Profile struct {
	Host      string
	Program   string // its executable's name; empty when the profile does not say
	Address   string // that it was read from, without what may be secret in it; "pid 812" of one that the kernel took
	Kind      ProfileKind
	Unit      string   // nanoseconds, bytes or count
	Interval  Interval // over which it counts; of heap and goroutine, its end counts
	Total     int64    // of all stacks, in Unit
	Stacks    int      // different ones
	Functions []ProfileFunction
	Data      []byte // gzip-compressed profile.proto, without labels; nil when it was too large to keep
	Note      string // what limits it, empty otherwise
}

// A ProfileFunction is what a profile says of one function.
type ProfileFunction struct {
	Name string
	File string
	Line int   // where the function begins; 0 when it is not known
	Flat int64 // in the function itself, in the profile's unit
	Cum  int64 // in it and in what it calls
}

// Share returns the part of the profile's total, 0 when that is nothing.
func (p *Profile) Share(value int64) float64 {
	if p.Total <= 0 {
		return 0
	}
	return float64(value) / float64(p.Total)
}
