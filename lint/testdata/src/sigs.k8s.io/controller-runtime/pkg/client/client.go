package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Object interface{ metav1.Object }

type ObjectKey struct{ Namespace, Name string }

type StatusWriter interface {
	Update(ctx context.Context, obj Object) error
}

type Client interface {
	Get(ctx context.Context, key ObjectKey, obj Object) error
	Create(ctx context.Context, obj Object) error
	Update(ctx context.Context, obj Object) error
	Status() StatusWriter
}
