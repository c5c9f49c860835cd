// Package sqlshape says what an SQL statement is when its values do not
// matter: its fingerprint and the id of that, its verb, its tables, and its
// text with the literals masked.
//
// Two readings of SQL live here, and they differ on purpose. The fingerprint
// ([Shaper.Fingerprint], [ID]) is pt-query-digest's, step by step and with all
// its quirks, because its id is the name under which people know a query. It is
// no SQL: digits inside names go, a lone minus goes, a doubled quote is
// misread. Everything else ([Lexer], [Verb], [Tables], [AppendMasked],
// [Equalities], [Values]) reads tokens as MySQL and MariaDB do, in their
// default sql_mode.
//
// Nothing here fails: any bytes have a fingerprint and a mask. Nothing keeps
// memory of its input.
//
// Sources: percona-toolkit 3.5.7, QueryRewriter, fingerprint(); MySQL 9.7
// Reference Manual, 11.1 Literal Values and 11.7 Comments; MariaDB knowledge
// base, String Literals.
package sqlshape
