// Package rowjson reads the answers of isuumo's API with as little work as being
// strict allows.
//
// The one idea: nearly all rows of a run's answers are bytes that have been seen
// before. So a list is cut into the raw bytes of its rows without decoding them
// ([Split]), each row is looked up among those that are known to be right
// ([Known]), and only what is new is decoded ([Chair], [Estate]): with exactly the
// keys of the API, each once, and numbers of the right kind.
//
// Any valid JSON is read: white space, order of keys and escapes are the server's
// choice.
package rowjson
