// Package churn simulates the operations of a healthy cluster on a running chain: rolling restarts, deploys, leader handovers,
// changes of CustomResourceDefinitions, node drains, programs scaled to zero and back. No alert should page for any of them.
package churn
