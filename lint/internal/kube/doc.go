// Package kube recognizes the types and functions of client-go and controller-runtime.
package kube
