// Package ir builds the SSA form of a package. Unlike the pass buildssa of x/tools, it has no facts, so that a driver need not
// parse dependencies.
package ir
