// Package patterns determines which of several regular expressions is the first to
// match a text. [Set.Matcher] gives what one goroutine asks; [Matcher.First]
// answers with an index into the list that [Compile] was given, so the order of
// the list decides between expressions that match alike.
//
// The one idea: all expressions run at once, as one automaton whose states are
// made when a text first needs them (a lazy DFA, as in RE2: Russ Cox, "Regular
// Expression Matching in the Wild", 2010). A byte of text then costs one look
// into a table, whatever the number of expressions, and the search ends as soon
// as nothing that follows can change the answer.
//
// The syntax is that of Go's regexp, and so are the answers, for every
// expression and every text: the programs are those of regexp/syntax, and a byte
// that is no UTF-8 counts as U+FFFD here as there. Only whether an expression
// matches is reported, not where.
package patterns
