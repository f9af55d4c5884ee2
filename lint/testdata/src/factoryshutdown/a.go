package factoryshutdown

import (
	"context"

	"k8s.io/client-go/informers"
)

func leaks(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactory(nil, 0) // want `starts and stops the factory`
	factory.Core().V1().Pods().Informer()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
}

func closes() {
	stop := make(chan struct{})
	defer close(stop)
	factory := informers.NewSharedInformerFactory(nil, 0) // want `starts and stops the factory`
	factory.Start(stop)
}

func shutDown(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(nil, 0)
	defer factory.Shutdown()
	defer cancel()
	factory.Start(ctx.Done())
}

func runs(ctx context.Context) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Start(ctx.Done())
}

func passes(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Start(ctx.Done())
	stop(factory)
}

func stop(factory informers.SharedInformerFactory) { factory.Shutdown() }

func other(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Start(stop)
	<-ctx.Done()
}
