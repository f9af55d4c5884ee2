// Package stack runs real servers on this machine: etcd, kube-apiserver, kube-controller-manager, Prometheus, Alertmanager and
// Jaeger, as child processes that listen on the loopback interface only.
//
// Tests and the demo use it, because the behavior of informers under faults depends on real servers
// and real connections: a fake client has no watch cache, no compaction and no half-open connection.
//
//	cp, err := stack.Start(ctx, stack.Options{})
//	defer cp.Stop(context.Background())
//	client, err := kubernetes.NewForConfig(cp.Config())
//
// Every server can be stopped, killed, paused and restarted on the same port and data. On Linux, no server
// outlives the program that started it, because the kernel kills the children of a dead parent. Elsewhere, a program that is
// killed leaves its servers running.
//
// The programs come from $KUBEBUILDER_ASSETS, from PATH if the version there is the pinned one, or are built once from
// the modules under tools/servers into the user's cache directory. Tests of other packages use stacktest.
package stack
