package factoryshutdown

import (
	"context"

	"k8s.io/client-go/informers"
)

// certManager7453 ends with its informers still running, as before cert-manager/cert-manager#7453.
func certManager7453(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactory(nil, 0) // want `starts and stops the factory`
	factory.Core().V1().Pods().Informer()
	factory.Start(ctx.Done())
	return run(ctx)
}

func certManager7453Fixed(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Core().V1().Pods().Informer()
	factory.Start(ctx.Done())
	err := run(ctx)
	cancel()
	factory.Shutdown()
	return err
}
