package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Sizes of a burst: each change concerns all workloads.
const (
	burstWorkloads = 10 // of each kind
	burstReplicas  = 20
	burstNodes     = 20
)

// burst has a kube-controller-manager with a healthy watch. Every 15 s, all workloads are changed five times within five seconds.
func burst(ctx context.Context, l *lab, plane *stack.ControlPlane) (*subject, error) {
	exporter, err := l.startExporter(ctx, plane.Config(), watchesMore)
	if err != nil {
		return nil, err
	}
	manager, err := l.startControllerManager(ctx, plane, plane.Config())
	if err != nil {
		return nil, err
	}
	api, err := apiServer(plane.APIServer)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	if err := createWorkloads(ctx, client); err != nil {
		return nil, err
	}
	return &subject{[]*target{exporter, manager, api}, func(ctx context.Context) error {
		for n := 0; ctx.Err() == nil; n++ {
			if err := change(ctx, client, n); err != nil && ctx.Err() == nil {
				l.log.Info("not changed", "err", err)
			}
			pause := time.Second
			if n%5 == 4 {
				pause = 10 * time.Second
			}
			_ = sleep(ctx, pause)
		}
		return nil
	}}, nil
}

// template is that of Pods that run nowhere: no kubelet exists.
func template(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.invalid/c"}}},
	}
}

func createWorkloads(ctx context.Context, client kubernetes.Interface) error {
	for i := range burstNodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i)}}
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for i := range burstWorkloads {
		meta := func(kind string) (metav1.ObjectMeta, *metav1.LabelSelector, corev1.PodTemplateSpec) {
			name := fmt.Sprint(kind, "-", i)
			return metav1.ObjectMeta{Name: name}, &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, template(name)
		}
		m, selector, pods := meta("deployment")
		_, err := client.AppsV1().Deployments(quiet).Create(ctx, &appsv1.Deployment{ObjectMeta: m, Spec: appsv1.DeploymentSpec{Selector: selector, Template: pods}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		m, selector, pods = meta("statefulset")
		_, err = client.AppsV1().StatefulSets(quiet).Create(ctx, &appsv1.StatefulSet{ObjectMeta: m, Spec: appsv1.StatefulSetSpec{
			Selector: selector, Template: pods, PodManagementPolicy: appsv1.ParallelPodManagement,
		}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		m, selector, pods = meta("daemonset")
		_, err = client.AppsV1().DaemonSets(quiet).Create(ctx, &appsv1.DaemonSet{ObjectMeta: m, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: pods}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		m, _, pods = meta("job")
		pods.Spec.RestartPolicy = corev1.RestartPolicyNever
		_, err = client.BatchV1().Jobs(quiet).Create(ctx, &batchv1.Job{ObjectMeta: m, Spec: batchv1.JobSpec{Template: pods}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// change scales all Deployments, StatefulSets and Jobs up or down, and rolls the DaemonSets out.
func change(ctx context.Context, client kubernetes.Interface, n int) error {
	replicas := burstReplicas * ((n + 1) % 2)
	scale := []byte(fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
	parallel := []byte(fmt.Sprintf(`{"spec":{"parallelism":%d}}`, replicas))
	rollOut := []byte(fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"change":"%d"}}}}}`, n))
	var errs []error
	for i := range burstWorkloads {
		_, err1 := client.AppsV1().Deployments(quiet).Patch(ctx, fmt.Sprint("deployment-", i), types.MergePatchType, scale, metav1.PatchOptions{})
		_, err2 := client.AppsV1().StatefulSets(quiet).Patch(ctx, fmt.Sprint("statefulset-", i), types.MergePatchType, scale, metav1.PatchOptions{})
		_, err3 := client.AppsV1().DaemonSets(quiet).Patch(ctx, fmt.Sprint("daemonset-", i), types.MergePatchType, rollOut, metav1.PatchOptions{})
		_, err4 := client.BatchV1().Jobs(quiet).Patch(ctx, fmt.Sprint("job-", i), types.MergePatchType, parallel, metav1.PatchOptions{})
		errs = append(errs, err1, err2, err3, err4)
	}
	return errors.Join(errs...)
}
