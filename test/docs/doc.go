// Package docs compares the hand-written documentation with the repository: links and anchors, commands, Go identifiers,
// requirement IDs, and words that the project does not use. Besides the tests, it has the tables of docs/dev/requirements.md,
// which `make generate` writes: the IDs are listed in requirements.go, and what meets them is found in the code.
package docs
