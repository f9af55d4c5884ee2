package event

import "sigs.k8s.io/controller-runtime/pkg/client"

type UpdateEvent struct{ ObjectOld, ObjectNew client.Object }

type GenericEvent struct{ Object client.Object }
