package e2e_test

import "time"

// patience is the timeout of steps that take seconds on an idle machine.
const patience = 5 * time.Minute
