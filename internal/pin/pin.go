//go:build pin

// Package pin keeps dependencies in go.mod until the packages that use them have landed.
package pin

import (
	_ "github.com/alecthomas/kingpin/v2"
	_ "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	_ "github.com/prometheus/client_golang/api/prometheus/v1"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/prometheus/client_golang/prometheus/testutil/promlint"
	_ "github.com/prometheus/common/promslog/flag"
	_ "github.com/prometheus/common/version"
	_ "github.com/prometheus/exporter-toolkit/web/kingpinflag"
	_ "go.opentelemetry.io/contrib/exporters/autoexport"
	_ "go.opentelemetry.io/otel/sdk/trace/tracetest"
	_ "go.opentelemetry.io/otel/trace/noop"
	_ "go.uber.org/goleak"
	_ "k8s.io/client-go/discovery"
	_ "k8s.io/client-go/dynamic/dynamicinformer"
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/client-go/metadata/metadatainformer"
	_ "k8s.io/client-go/restmapper"
	_ "k8s.io/client-go/tools/clientcmd"
	_ "k8s.io/client-go/tools/leaderelection"
	_ "k8s.io/client-go/util/cert"
	_ "k8s.io/klog/v2"
	_ "k8s.io/utils/ptr"
	_ "sigs.k8s.io/yaml"
)
