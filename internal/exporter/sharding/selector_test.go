package sharding

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
)

func withUID(uid string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: uid, UID: apitypes.UID(uid)}}
}

// Together, the parts of all shards cover all hashes without a gap or an overlap.
func TestPartsAreEverything(t *testing.T) {
	for _, total := range []int{2, 3, 5, 7, 1000} {
		var next uint64
		for ordinal := range total {
			parts := Shard{ordinal, total}.Selector().ranges
			if len(parts) != 1 || parts[0].first != next || parts[0].first >= parts[0].last {
				t.Fatalf("%d of %d has %x, want one from %x", ordinal, total, parts, next)
			}
			next = parts[0].last + 1
		}
		if next != 0 {
			t.Errorf("the last of %d ends before %x", total, next)
		}
	}
	for shard, want := range map[Shard]string{
		{0, 2}: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
		{1, 2}: "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
		{1, 3}: "shardRange(object.metadata.uid, '0x5555555555555555', '0xaaaaaaaaaaaaaaaa')",
	} {
		if got := shard.Selector().String(); got != want {
			t.Errorf("%v is %s, want %s", shard, got, want)
		}
	}
	for _, shard := range []Shard{{}, {0, 1}} {
		if s := shard.Selector(); !s.Empty() || s.String() != "" {
			t.Errorf("%v is %q", shard, s)
		}
	}
}

// UIDs are spread evenly.
func TestPartsAreEqual(t *testing.T) {
	const total = 5
	have := make([]int, total)
	for range 10_000 {
		o := withUID(string(uuid.NewUUID()))
		for ordinal := range total {
			if yes, err := (Shard{ordinal, total}).Selector().Matches(o); err != nil {
				t.Fatal(err)
			} else if yes {
				have[ordinal]++
			}
		}
	}
	if slices.Min(have) < 1800 || slices.Max(have) > 2200 {
		t.Errorf("%v of 10,000", have)
	}
}

func TestAllBut(t *testing.T) {
	one := withUID("7d4ee1cd-2d8b-4c4f-9f1c-8ff1a1a1c0de")
	others := AllBut(one)
	if yes, err := others.Matches(one); yes || err != nil {
		t.Errorf("%s selects it (%v)", others, err)
	}
	for i := range 1000 {
		if yes, err := others.Matches(withUID(fmt.Sprint(i))); !yes || err != nil {
			t.Fatalf("%s does not select another (%v)", others, err)
		}
	}
}

// Only the hash of the object itself is left out: the ranges end and begin next to it.
func TestAllButIsExact(t *testing.T) {
	const want = "shardRange(object.metadata.uid, '0x0000000000000000', '0x6979f7772e3dc365') || shardRange(object.metadata.uid, '0x6979f7772e3dc366', '0x10000000000000000')"
	if got := AllBut(withUID("7d4ee1cd-2d8b-4c4f-9f1c-8ff1a1a1c0de")).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An object without metadata is not selected and causes an error, also in a list.
func TestObjectsWithoutMetadata(t *testing.T) {
	part := Shard{0, 2}.Selector()
	if yes, err := part.Matches(&metav1.APIVersions{}); yes || err == nil {
		t.Errorf("selected: %t, error %v", yes, err)
	}
	if err := FilterList(part, &metav1.APIVersions{}, func() { t.Error("reported as an object of another shard") }); err == nil {
		t.Error("no error for an object that is not a list")
	}
	if yes, err := (Selector{}).Matches(&metav1.APIVersions{}); !yes || err != nil {
		t.Errorf("selected by everything: %t, error %v", yes, err)
	}
}

// Objects that the API server should not have sent are filtered out, and reported once.
func TestUnaskedObjectsAreLeftOut(t *testing.T) {
	mine, theirs := Shard{0, 2}.Selector(), Shard{1, 2}.Selector()
	var own, others []*metav1.PartialObjectMetadata
	for i := range 20 {
		o := withUID(fmt.Sprint(i))
		if yes, _ := mine.Matches(o); yes {
			own = append(own, o)
		} else {
			others = append(others, o)
		}
	}
	if len(own) == 0 || len(others) == 0 {
		t.Fatalf("%d and %d", len(own), len(others))
	}
	list := func() *metav1.PartialObjectMetadataList {
		l := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}}
		for _, o := range slices.Concat(others[:1], own, others[1:]) {
			l.Items = append(l.Items, *o)
		}
		return l
	}
	count := 0
	noticed := func() { count++ }
	for _, tc := range []struct {
		part    Selector
		want    int
		noticed int
	}{{mine, len(own), 1}, {theirs, len(others), 1}, {Shard{}.Selector(), 20, 0}} {
		l := list()
		count = 0
		if err := FilterList(tc.part, l, noticed); err != nil {
			t.Fatal(err)
		}
		if len(l.Items) != tc.want || count != tc.noticed || l.ResourceVersion != "7" || l.Continue != "more" {
			t.Errorf("%q: %d items, want %d; noticed %d times", tc.part, len(l.Items), tc.want, count)
		}
		for _, o := range l.Items {
			if yes, _ := tc.part.Matches(&o); !yes {
				t.Errorf("%q: %s is left", tc.part, o.UID)
			}
		}
		count = 0
		if err := FilterList(tc.part, l, noticed); err != nil || len(l.Items) != tc.want || count != 0 {
			t.Errorf("%q: %d items of its own list, noticed %d times, %v", tc.part, len(l.Items), count, err)
		}
	}

	defer leaktest.None(t, goleak.IgnoreCurrent())
	inner := watch.NewFakeWithChanSize(100, false)
	count = 0
	w := FilterWatch(mine, inner, noticed)
	for _, o := range slices.Concat(others, own) {
		inner.Add(o)
		inner.Modify(o)
		inner.Delete(o)
	}
	bookmark := withUID("") // its object has no UID
	inner.Action(watch.Bookmark, bookmark)
	for _, o := range own {
		for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
			if e := next(t, w); e.Type != want || e.Object != o {
				t.Fatalf("%v %v, want %s %s", e.Type, e.Object, want, o.UID)
			}
		}
	}
	if e := next(t, w); e.Type != watch.Bookmark || e.Object != bookmark {
		t.Errorf("%v %v, want the bookmark", e.Type, e.Object)
	}
	if count != 1 {
		t.Errorf("noticed %d times", count)
	}
	inner.Add(own[0]) // never read
	w.Stop()
	w.Stop()
	if !inner.IsStopped() {
		t.Error("the inner watch is not stopped")
	}

	inner = watch.NewFakeWithChanSize(1, false)
	w = FilterWatch(theirs, inner, noticed)
	inner.Stop()
	select {
	case _, ok := <-w.ResultChan():
		if ok {
			t.Error("an unexpected event")
		}
	case <-time.After(30 * time.Second):
		t.Error("it does not end with the inner watch")
	}
	if everything := FilterWatch(Shard{}.Selector(), inner, noticed); everything != watch.Interface(inner) {
		t.Error("a watch of all objects is wrapped")
	}
}

func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch has ended")
		}
		return e
	case <-time.After(30 * time.Second):
		t.Fatal("no event within 30 s")
	}
	panic("unreachable")
}

// Only the selected objects are requested. The hash is that of apimachinery's package sharding.
func TestSelect(t *testing.T) {
	options := metav1.ListOptions{LabelSelector: "a=b"}
	Shard{1, 3}.Selector().Select(&options)
	if options.ShardSelector != (Shard{1, 3}).Selector().String() || options.LabelSelector != "a=b" {
		t.Errorf("the options are %+v", options)
	}
	if got := hashOf(withUID("7d4ee1cd-2d8b-4c4f-9f1c-8ff1a1a1c0de")); got != 0x6979f7772e3dc365 {
		t.Errorf("the hash is %x", got)
	}
}
