package informer_test

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

// namesOf returns the sorted names of the objects in a store.
func namesOf[T any](objects []T, err error) string {
	if err != nil {
		return err.Error()
	}
	var found []string
	for _, obj := range objects {
		found = append(found, any(obj).(*corev1.Pod).Name)
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

func byNode(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }

func podOn(node, name string, version int) *corev1.Pod {
	p := fakeapi.Pod(name, version)
	p.Spec.NodeName = node
	return p
}

// Reads from stores, indexers and listers, typed or not, with and without a Transform.
var storeBehaviors = map[string]behavior{
	"indexers can be added before the start and after": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"first": byNode}})
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(10, podOn("x", "a", 7), podOn("y", "b", 8)), nil
		}
		s.note("before: %v", inf.AddIndexers(cache.Indexers{"second": byNode}))
		stream, _ := s.run(inf)
		s.quiesce()
		s.note("after: %v", inf.AddIndexers(cache.Indexers{"third": byNode}))
		s.note("through the indexer: %v", inf.GetIndexer().AddIndexers(cache.Indexers{"fourth": byNode}))
		s.note("twice: %v", inf.AddIndexers(cache.Indexers{"third": byNode}))
		s.quiesce()
		stream.Send(watch.Added, podOn("x", "c", 11))
		s.quiesce()
		i := inf.GetIndexer()
		for _, index := range []string{"first", "second", "third", "fourth", "fifth"} {
			keys, err := i.IndexKeys(index, "y")
			values := i.ListIndexFuncValues(index)
			slices.Sort(values)
			s.note("%s: %s; %v %v; %v", index, namesOf(i.ByIndex(index, "x")), keys, err, values)
		}
		s.note("like a: %s", namesOf(i.Index("first", podOn("x", "", 0))))
		s.note("%d indexers", len(i.GetIndexers()))
	}, []string{
		"before: <nil>",
		"after: <nil>", "through the indexer: <nil>", "twice: indexer conflict: map[third:{}]",
		"4 indexers",
		"fifth: Index with name fifth does not exist; [] Index with name fifth does not exist; []",
		"first: a c; [default/b] <nil>; [x y]", "fourth: a c; [default/b] <nil>; [x y]", "like a: a c",
		"second: a c; [default/b] <nil>; [x y]", "third: a c; [default/b] <nil>; [x y]",
	}},
	"listers read": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		s.run(inf)
		s.quiesce()
		lister, generic := corelisters.NewPodLister(inf.GetIndexer()), cache.NewGenericLister(inf.GetIndexer(), podsResource.GroupResource())
		s.note("all: %s", namesOf(lister.List(apilabels.Everything())))
		s.note("of a namespace: %s", namesOf(lister.Pods("default").List(apilabels.Everything())))
		s.note("of another: %s", namesOf(lister.Pods("other").List(apilabels.Everything())))
		p, err := lister.Pods("default").Get("a")
		s.note("a: %s %v", p.Name, err)
		_, err = lister.Pods("default").Get("c")
		s.note("c: %v", err)
		_, err = generic.Get("default/c")
		s.note("c: %v", err)
		objects, err := generic.ByNamespace("default").List(apilabels.Everything())
		s.note("generic: %s", namesOf(objects, err))
	}, []string{
		"a: a <nil>", "all: a b", `c: pod "c" not found`, `c: pods "default/c" not found`, "generic: a b", "of a namespace: a b", "of another: ",
	}},
	"a Transform changes what is stored, and may refuse objects": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		if err := inf.SetTransform(func(obj any) (any, error) {
			p := obj.(*corev1.Pod)
			if p.Name == "c" {
				return nil, errTest
			}
			p = p.DeepCopy()
			p.Labels = map[string]string{"seen": fmt.Sprint(p.ResourceVersion)}
			return p, nil
		}); err != nil {
			s.Error(err)
		}
		s.add(inf, s.handler("h"))
		stream, _ := s.run(inf)
		s.quiesce()
		stream.Send(watch.Added, fakeapi.Pod("c", 11))
		stream.Send(watch.Modified, fakeapi.Pod("a", 12))
		s.quiesce()
		for _, obj := range inf.GetStore().List() {
			s.note("%s: %v", obj.(*corev1.Pod).Name, obj.(*corev1.Pod).Labels)
		}
	}, []string{
		"h adds a@7 initial=true", "h adds b@8 initial=true",
		"h updates a@7 to a@12 same=false",
		"a: map[seen:12]", "b: map[seen:8]",
	}},
}
