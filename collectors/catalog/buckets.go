package catalog

// Bucket layouts. A threshold of an objective must be exactly one of the bounds of the histogram that it is compared
// with, and no layout may end at its threshold: a quantile never exceeds the top finite bound.
var (
	// lagBuckets have the documented .001, .01, .1, 1 and 10, and finer ones, including 5.
	lagBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

	// handlerBuckets include the documented 120 ms.
	handlerBuckets = []float64{.00001, .0001, .0005, .001, .005, .01, .025, .05, .12, .25, .5, 1, 5, 10, 30}

	// syncBuckets include the documented 30 s and extend well past it.
	syncBuckets = []float64{.01, .05, .1, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}

	// watchBuckets separate watches that fail immediately from those that last client-go's 5 to 10 minutes.
	watchBuckets = []float64{1, 5, 15, 30, 60, 120, 300, 450, 600, 900, 1800, 3600}

	// gapBuckets include the documented 500 ms.
	gapBuckets = []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

	// propagationBuckets start at one second, the resolution of managedFields.
	propagationBuckets = []float64{1, 2.5, 5, 10, 30, 60, 300, 1800}

	// itemBuckets count objects, not seconds.
	itemBuckets = []float64{0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000}
)

// Layouts of controllers.
var (
	// retryBuckets count retries, not seconds: client-go's default backoff exceeds a second after 8 retries and reaches its
	// maximum of 1000 s after 18.
	retryBuckets = []float64{0, 1, 2, 3, 5, 8, 10, 15, 18, 25, 50}

	// backoffBuckets follow client-go's default limiter: 5 ms, doubled at each retry, up to the documented 30 s or 1000 s.
	backoffBuckets = []float64{.005, .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 30, 60, 300, 1000}

	// reconcileBuckets cover the documented mean of 42 ms and p99 of 187 ms, and follow controller-runtime's where possible.
	reconcileBuckets = []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

	// cleanupBuckets go beyond five minutes, the documented age of a stuck deletion.
	cleanupBuckets = []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 120, 300, 600, 1800}

	// requestBuckets go beyond client-go's renew deadline of 10 s and the request timeout of 60 s.
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10, 15, 30, 60, 120}
)

// Layouts of component-base.
var (
	upstreamBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	// Two of the bounds are not round, because upstream computes them by multiplication. With round ones, a sum over queues
	// of the library and of other programs would have both.
	upstreamQueueBuckets = []float64{1e-08, 1e-07, 1e-06, 9.999999999999999e-06, 9.999999999999999e-05, 1e-03, 0.01, 0.1, 1, 10}
)
