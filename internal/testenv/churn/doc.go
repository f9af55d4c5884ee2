// Package churn simulates the operations of a healthy cluster on a running chain: rolling restarts, deploys, leader handovers,
// changes of CustomResourceDefinitions, node drains, programs scaled to zero and back. No alert should page for any of them.
//
//	churn.go        the schedule
//	programs.go     restarts, handovers, scale to zero
//	definitions.go  CustomResourceDefinitions that are created, upgraded and deleted
//	deployments.go  deploys of a Deployment
//	nodes.go        nodes: drains
//	kubelet.go      Pods that become ready on nodes, in place of a scheduler and of kubelets
package churn
