// Package docs has no code of its own. Its tests compare the hand-written documentation with the repository: links and
// anchors, commands, Go identifiers, requirement ids, and words that the project does not use.
package docs
