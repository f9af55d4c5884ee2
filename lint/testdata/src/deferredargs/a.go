package deferredargs

import (
	"errors"
	"time"
)

func observe(start time.Time, err error) {}

func count(name string, err error) {}

func work() error { return errors.New("failed") }

func named() (err error) {
	defer observe(time.Now(), err) // want `evaluates this error now`
	return work()
}

func assigned() error {
	var err error
	defer count("work", err) // want `evaluates this error now`
	err = work()
	return err
}

func literal() (err error) {
	defer func() { observe(time.Now(), err) }()
	return work()
}

func known() (err error) {
	if err = work(); err != nil {
		defer observe(time.Now(), err)
		return err
	}
	return work()
}

func final() {
	err := work()
	defer observe(time.Now(), err)
}
