// Pins the API types of the oldest Kubernetes that the chart accepts: kubeVersion in Chart.yaml. No package imports this module.
module github.com/informer-exporter/informer-exporter/test/deploy/testdata/kubernetes-1.28

go 1.26.0

require k8s.io/api v0.28.0
