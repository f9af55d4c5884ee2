package inspection

import (
	"cmp"
	"slices"
	"time"
)

// Top is the number of items in a list of Queue.
const Top = 10

// Queues is implemented by the part that knows work queues and rate limiters.
type Queues interface {
	// Queues returns the state of each controller.
	Queues() []Queue
}

// Queue is the state of the queues and rate limiters of one controller.
type Queue struct {
	// Controller is the value of the label controller.
	Controller string `json:"controller"`
	// Ready and Delayed are numbers of items. They are 0 for a rate limiter without an observed queue.
	Ready   int `json:"ready"`
	Delayed int `json:"delayed"`
	// OldestSeconds is how long the oldest ready item has been ready.
	OldestSeconds float64 `json:"oldestSeconds"`
	// RunningWorkers is nil if calls of Get are not observed.
	RunningWorkers *int `json:"runningWorkers"`
	// Retried is the number of items that are retried.
	Retried int `json:"retried"`
	// MostRetries has the items with the most retries, LongestRetried those that have been retried for the longest time.
	MostRetries    []Item `json:"mostRetries"`
	LongestRetried []Item `json:"longestRetried"`
}

// Item is an item that is retried.
type Item struct {
	Item    string `json:"item"`
	Retries int    `json:"retries"`
	// FirstRetry and LastRetry are when the item was first and last added to the queue with a backoff.
	FirstRetry time.Time `json:"firstRetry"`
	LastRetry  time.Time `json:"lastRetry"`
	// AgeSeconds is the time since FirstRetry.
	AgeSeconds float64 `json:"ageSeconds"`
	// BackoffSeconds is the rest of the backoff, 0 if it has ended: the item is then ready, being processed, or was dropped
	// without a call of Forget.
	BackoffSeconds float64 `json:"backoffSeconds"`
	// BackoffUntil is the end of the backoff, nil if it has ended.
	BackoffUntil *time.Time `json:"backoffUntil"`
}

// AddItems counts items as retried and adds them to both lists, which are not null from then on.
func (q *Queue) AddItems(items []Item) {
	q.Retried += len(items)
	q.MostRetries = first(slices.Concat(q.MostRetries, items), func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Retries, a.Retries), cmp.Compare(b.AgeSeconds, a.AgeSeconds), cmp.Compare(a.Item, b.Item))
	})
	q.LongestRetried = first(slices.Concat(q.LongestRetried, items), func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.AgeSeconds, a.AgeSeconds), cmp.Compare(b.Retries, a.Retries), cmp.Compare(a.Item, b.Item))
	})
}

func first(items []Item, order func(a, b Item) int) []Item {
	slices.SortFunc(items, order)
	return append([]Item{}, items[:min(Top, len(items))]...)
}
