package e2e_test

import "time"

// patience is the timeout for what takes seconds on an idle machine.
const patience = 2 * time.Minute
