package controllerutil

import "sigs.k8s.io/controller-runtime/pkg/client"

func AddFinalizer(o client.Object, finalizer string) bool      { return true }
func RemoveFinalizer(o client.Object, finalizer string) bool   { return true }
func ContainsFinalizer(o client.Object, finalizer string) bool { return true }
