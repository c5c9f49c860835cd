// Package routes finds the route of a request's path: /users/123 and
// /users/456 are both /users/:id.
//
// The one idea: what a path is made of decides, in three steps, and nothing has
// to be configured. First, segments that are values by their form (numbers,
// uuids, hashes, dates, tokens) become :id; [Rules] does that. Second, a place in
// the path that has many different values of similar weight holds a value too,
// such as a user's name; it becomes :name, which only the counts of a whole log
// can reveal, so [Collapse] decides it at the end; so do rows that have a name and a
// number, the-sea_12 and old-maps_7, which become :words_:id. Third, a log may hold more
// different paths than fit in memory; a [Tree] keeps the first values of each
// place and folds the rest.
//
// A person overrides the first step with patterns and with lists of routes that
// are read from an application's Go source or an OpenAPI document.
//
// A route is text: a path, then the query keys that were asked for. Percent
// signs stay as they were logged, but for characters that need none
// (RFC 3986, 6.2.2.2).
//
// Sources: RFC 3986 (paths, percent signs), RFC 9112 3.2 (request targets), RFC
// 9562 (uuid), RFC 7519 (jwt), the ULID specification; net/http.ServeMux,
// gorilla/mux, echo, gin, chi and fiber for the forms of routes; OpenAPI 3.1.
package routes
