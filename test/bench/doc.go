// Package bench measures the load figures of docs/dev/requirements.md (B1 to B3, B7 to B11), and encodings (S25), in their
// documented size and shape. `make bench-report` runs it and writes docs/dev/decisions.md. Its tests run every benchmark in a
// small size.
package bench
