// Package accesslog adds the requests that web servers logged up to rows: by method
// and route, or by any other values of the lines.
//
// The one idea: routes are found from the paths and from how often they come
// (package routes), and the answer does not depend on how the work was shared. What
// lines mean is the matter of package accessformat.
//
// A [Table] adds records up, and a [Filter] says which. [CollectAll] reads any number
// of logs side by side into one table, which is the same however many workers there
// are, and accounts for every line. Memory is bounded: a table follows some twenty
// thousand different keys, and puts the requests of the others into the row [Other].
//
// Where a log gives request times in milliseconds, quantiles are exact.
package accesslog
