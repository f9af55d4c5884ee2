package deferredargs

import "time"

// karmada6300 records each request as a success, as in karmada-io/karmada#6300.
func karmada6300(get func() (int, error)) (int, error) {
	start := time.Now()
	var err error
	defer observe(start, err) // want `evaluates this error now`
	n, err := get()
	return n, err
}

func karmada6300Fixed(get func() (int, error)) (n int, err error) {
	start := time.Now()
	defer func() { observe(start, err) }()
	n, err = get()
	return n, err
}
