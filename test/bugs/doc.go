// Package bugs reproduces the kind of published bugs of controllers and API servers, each in a small controller of its own, and records
// which alert detects it and when. cases.yaml has the bugs, and the alerts that were expected before the first run.
package bugs
