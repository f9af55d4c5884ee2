// Package inspection has the documents that package inspect serves. A core.Part that implements one of its interfaces contributes to
// them. Unlike metrics, they name objects.
package inspection
