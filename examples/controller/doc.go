// The example is a complete controller on client-go and this library: leader election, a work queue with retries, a
// finalizer, status updates and an orderly shutdown, all of them observed. It gives each Widget (widgets.yaml) a ConfigMap
// with its content. Fields of a Widget cause failures, to show retries, backoff and deletions that are blocked by a
// finalizer.
//
//	kubectl apply -f examples/controller/widgets.yaml
//	go run ./examples/controller --kubeconfig ~/.kube/config
//
// The library only observes. The rest is for you to copy: retries are in retry.go, the order and the deadlines of a
// shutdown in shutdown.go.
package main
