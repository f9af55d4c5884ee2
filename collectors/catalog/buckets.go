package catalog

// Bucket layouts. A threshold of an objective must be exactly one of the bounds of the histogram that it is compared with, and no
// layout may end at its threshold: a quantile never exceeds the top finite bound. Each bound costs a series per informer, so a
// layout has few: those around its objective, and enough others for a quantile.
var (
	// lagBuckets include the documented .001, .01, .1, 1 and 10, and the objective of 5 s.
	lagBuckets = []float64{.001, .01, .1, 1, 5, 10, 60}

	// handlerBuckets include the documented 120 ms.
	handlerBuckets = []float64{.0001, .001, .01, .05, .12, .5, 1, 10}

	// gapBuckets include the documented 500 ms.
	gapBuckets = []float64{.1, .5, 5}

	// generationBuckets include the objective of 300 s for the oldest lag.
	generationBuckets = []float64{.1, 1, 10, 60, 300, 1800}

	// syncBuckets, cleanupBuckets and retryBuckets include the objectives of 30 s, 10 s and 6 retries. retryBuckets begin with success
	// at the first attempt. 15 is the limit of most controllers of Kubernetes.
	syncBuckets    = []float64{5, 30, 120}
	cleanupBuckets = []float64{1, 10, 60}
	retryBuckets   = []float64{0, 6, 15}

	// backoffBuckets include the recommended maximum of 30 s. client-go's default ends at 1000 s.
	backoffBuckets = []float64{1, 30, 300}

	// reconcileBuckets cover the documented mean of 42 ms and p99 of 187 ms. controller-runtime has all of these bounds.
	reconcileBuckets = []float64{.005, .025, .05, .1, .25, 1, 5, 30}

	// requestBuckets include the objective of 1 s for throttling, and go beyond client-go's renew deadline of 10 s.
	// component-base has all of these bounds.
	requestBuckets = []float64{.025, .1, .5, 1, 4, 15, 60}
)

// Bucket bounds of component-base.
var (
	upstreamBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	// Two of the bounds are not round, because upstream computes them by multiplication. With round ones, a sum over queues
	// of the library and of other programs would have both.
	upstreamQueueBuckets = []float64{1e-08, 1e-07, 1e-06, 9.999999999999999e-06, 9.999999999999999e-05, 1e-03, 0.01, 0.1, 1, 10}
	restBuckets          = []float64{.005, .025, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60}
)

// Bucket bounds of controller-runtime and of kube-apiserver.
var (
	runtimeBuckets = []float64{
		.005, .01, .025, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .6, .7, .8, .9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5,
		5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
	}
	consistencyBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 4, 6, 8, 10}
	dispatchBuckets    = []float64{.0001, .0005, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	readWaitBuckets    = []float64{.005, .025, .05, .1, .2, .4, .6, .8, 1, 1.25, 1.5, 2, 3}
	serverBuckets      = []float64{.05, .1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60}
)
