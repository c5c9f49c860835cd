// Package serve is the page of kasoku: all runs, one run, what is recorded at this moment, and the difference of
// two, for a browser, and the same as JSON for programs.
//
// The one idea: a page is a [report.Document], as a report is, and the server sends it as package report/html
// writes it. So page, file and terminal say the same words and numbers; the page alone has a server to ask again:
// for some seconds of a run, for one endpoint or statement of it, for what came since. Programs get the JSON that
// the commands print with -o json.
//
// What stands in a run comes from strangers: routes, statements, user agents, host names. It is text in a page,
// by html/template; the policy of the pages allows no script and no style inline, no other host and no frame.
// Run files are read, never written, but for what an owner of this server does with it: see [Options].
//
// Start at [New]. A Server is safe for use by several goroutines.
package serve
