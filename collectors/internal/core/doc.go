// Package core is shared by the packages of decorators. A collectors.Observer wraps a core.Observer, which decorators get from
// obs.Core().
package core
