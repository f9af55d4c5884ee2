// Package core is shared by the packages of decorators. A collectors.Observer wraps a core.Observer, which decorators get from Of.
package core

// Handle is embedded in collectors.Observer, so that Of accepts it without an exported method.
type Handle struct{ observer *Observer }

// Handle returns a Handle of the Observer.
func (o *Observer) Handle() Handle { return Handle{o} }

func (h Handle) of() *Observer { return h.observer }

// Of returns what a collectors.Observer wraps.
func Of(obs interface{ of() *Observer }) *Observer { return obs.of() }
