package load

// MaxResponseHeader is how many bytes the header of an answer may have, those of
// the 1xx answers before it included. Every engine takes a longer one as a
// failure, so that a server cannot make the generator hold more.
const MaxResponseHeader = 1 << 20
