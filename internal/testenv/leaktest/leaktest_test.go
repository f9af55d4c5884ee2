package leaktest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
)

func TestNoneAndFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := goleak.IgnoreCurrent()
		go time.Sleep(await.Timeout / 2)
		leaktest.None(t, known)
		end := make(chan struct{})
		go wait(end)
		if err := leaktest.Find(known); err == nil || !strings.Contains(err.Error(), "leaktest_test.wait") {
			t.Errorf("a goroutine is left, and the error is %v", err)
		}
		close(end)
		leaktest.None(t, known)
	})
}

func wait(end <-chan struct{}) { <-end }
