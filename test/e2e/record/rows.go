package main

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
)

// row is a row of docs/faults.md.
type row struct {
	test    string
	prepare func(context.Context, *lab) (*subject, error)
}

// seldom is the interval of repeated faults: client-go's backoff resets after two minutes.
const seldom = 140 * time.Second

// Settings of exporters.
var (
	quietly   = exporterOptions{config: "resources: [configmaps, pods]\nnamespaces: [" + quiet + "]\nchecks: {freshness: 0s, audit: 0s}\n"}
	oneKind   = exporterOptions{config: "resources: [configmaps]\nnamespaces: [" + busy + "]\nchecks: {freshness: 0s, audit: 0s}\n"}
	noPings   = exporterOptions{config: oneKind.config, env: []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS=0"}}
	freshness = exporterOptions{config: "resources: [configmaps]\nnamespaces: [" + busy + "]\nchecks: {freshness: 10s, audit: 0s}\n", env: noPings.env}
	audits    = exporterOptions{config: "resources: [configmaps, pods]\nnamespaces: [" + busy + "]\nchecks: {freshness: 0s, audit: 1m}\n"}
	lists     = exporterOptions{env: []string{"KUBE_FEATURE_WatchListClient=false"}}
)

var rows = []row{
	// Watch.
	{"TestServerTimeout", wire(exporterOptions{}, func(ctx context.Context, _ *faultproxy.Proxy) { <-ctx.Done() })},
	{"TestBookmarksOnly", wire(quietly, func(ctx context.Context, _ *faultproxy.Proxy) { <-ctx.Done() })},
	{"TestResetInTheMiddleOfAnEvent", wire(exporterOptions{}, func(ctx context.Context, p *faultproxy.Proxy) {
		every(ctx, 4*time.Second, func() { p.CutAfter(20) })
	})},
	{"TestCutConnection", wire(exporterOptions{withProgram: true}, func(ctx context.Context, p *faultproxy.Proxy) { p.Cut(); <-ctx.Done() })},
	{"TestHalfOpenConnection", wire(noPings, halfOpen)},
	{"TestHalfOpenConnectionWithFreshnessChecks", wire(freshness, halfOpen)},
	{"TestDeadConnectionIsFoundByPings", wire(exporterOptions{}, func(ctx context.Context, p *faultproxy.Proxy) {
		every(ctx, 90*time.Second, func() {
			p.HalfOpen()
			_ = sleep(ctx, 50*time.Second) // pings take 45 seconds
			_ = p.Restore()
		})
	})},
	{"TestVeryShortWatches", gated(exporterOptions{env: lists.env, withProgram: true}, func(ctx context.Context, g *gate) { g.answerWith(ended); g.end(); <-ctx.Done() })},
	{"TestGarbageOnTheStream", gated(exporterOptions{}, func(ctx context.Context, g *gate) {
		every(ctx, seldom, func() { g.send("<html>504 from a proxy</html>") })
	})},
	{"TestExpiredVersion", gated(exporterOptions{}, func(ctx context.Context, g *gate) {
		every(ctx, seldom, func() { g.send(gone()) })
	})},
	{"TestThrottledWatch", gated(exporterOptions{withProgram: true}, func(ctx context.Context, g *gate) {
		g.answerWith(status(isWatch, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests))
		g.end()
		<-ctx.Done()
	})},

	// List.
	{"TestThrottledList", starting(status(isAnyList, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests))},
	{"TestServerErrorOnList", starting(status(isAnyList, http.StatusInternalServerError, metav1.StatusReasonInternalError))},
	{"TestForbidden", starting(with("Impersonate-User", "unprivileged"))},
	{"TestUnauthorized", starting(with("Authorization", "Bearer expired"))},
	{"TestSlowList", starting(late(150 * time.Second))},
	{"TestStreamingListRejected", starting(status(isStreamingList, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid))},
	{"TestStreamingListNeverCompletes", startingWith(func(g *gate) { g.lose(metav1.InitialEventsAnnotationKey) })},
	{"TestRelistOfUnchangedObjects", gated(quietly, func(ctx context.Context, g *gate) { g.send(gone()); <-ctx.Done() })},
	{"TestDeleteMissedDuringAGap", missedDelete},
	{"TestDeleteLostOnTheWay", gated(audits, func(ctx context.Context, g *gate) { g.lose(`"type":"DELETED"`); <-ctx.Done() })},

	// Servers.
	{"TestAPIServerKilled", apiServerKilled},
	{"TestSecuredMetricsInAnOutage", securedMetrics},
	{"TestCompaction", compaction},
	{"TestEtcdRestored", etcdRestored},
	{"TestCRDDeleted", crdDeleted},
	{"TestVersionsThatAreNoNumbers", foreignVersions},
	{"TestThousandInformers", thousandInformers},

	// Handlers, Transforms and the cache.
	{"TestBlockedHandler", programOnly(blockedHandler, strike)},
	{"TestPanickingHandler", programOnly(panickingHandler, strike)},
	{"TestHandlerRemovedWhileBusy", programOnly(ordinary, removeBusyHandlers)},
	{"TestLateHandler", programOnly(ordinary, addHandlers)},
	{"TestTransformThatFails", programOnly(transforming(fails), strike)},
	{"TestTransformThatReturnsNil", programOnly(transforming(returnsNil), strike)},
	{"TestTransformThatFailsInAList", programOnly(transformingLists(fails), strikeFromTheStart)},
	{"TestTransformThatStripsTheVersion", programOnly(transforming(stripsVersion), strike)},
	{"TestTransformThatChangesTheName", programOnly(renaming, strike)},
	{"TestForeignObjects", programOnly(unfiltered, strikeFromTheStart)},
	{"TestTransformThatReturnsNilInAList", programOnly(transformingLists(returnsNil), strikeFromTheStart)},
	{"TestTransformThatBlocks", programOnly(transformThatBlocks, strike)},
	{"TestReadsBeforeSync", programOnly(readsEarly, strikeFromTheStart)},
	{"TestLeakedHandlers", programOnly(ordinary, leakHandlers)},
	{"TestMutatedObject", programOnly(mutations, mutate)},
}

// wire prepares an exporter behind a proxy. The fault breaks the exporter's connections until ctx ends.
func wire(o exporterOptions, breaks func(context.Context, *faultproxy.Proxy)) func(context.Context, *lab) (*subject, error) {
	return func(ctx context.Context, l *lab) (*subject, error) {
		proxy, err := l.proxy(l.plane.APIServer.Address)
		if err != nil {
			return nil, err
		}
		targets, err := l.startBoth(ctx, proxy.RESTConfig(l.plane.Config()), o)
		if err != nil {
			return nil, err
		}
		return &subject{targets, func(ctx context.Context) error { breaks(ctx, proxy); return proxy.Restore() }}, nil
	}
}

// halfOpen renews all watches first. It is shorter than a watch, so that no watch ends during the fault.
func halfOpen(ctx context.Context, p *faultproxy.Proxy) {
	p.Reset()
	_ = sleep(ctx, 10*time.Second)
	p.HalfOpen()
	_ = sleep(ctx, 4*time.Minute)
	_ = p.Restore()
	<-ctx.Done()
}

// gated prepares an exporter behind a gate. The fault replaces responses and drops events until ctx ends.
func gated(o exporterOptions, breaks func(context.Context, *gate)) func(context.Context, *lab) (*subject, error) {
	return func(ctx context.Context, l *lab) (*subject, error) {
		g, err := l.gate(l.plane)
		if err != nil {
			return nil, err
		}
		targets, err := l.startBoth(ctx, g.config(), o)
		if err != nil {
			return nil, err
		}
		return &subject{targets, func(ctx context.Context) error {
			breaks(ctx, g)
			g.answerWith(nil)
			g.lose("")
			return nil
		}}, nil
	}
}
