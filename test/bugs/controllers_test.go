package bugs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nothing(context.Context, *program) error { return nil }

// paused waits before it reads.
func paused(do reconcile) reconcile {
	return func(ctx context.Context, p *program) error {
		p.pause.Lock()
		p.pause.Unlock() //nolint:staticcheck // waits
		return do(ctx, p)
	}
}

// converge gives each member a volume, and deletes those of no member; a parent with an option gets one more part.
func converge(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	members := int(*s.Spec.Replicas)
	if s.DeletionTimestamp != nil {
		members = 0
	}
	for i := range 3 {
		if err := ensure(ctx, p.client, p.id, fmt.Sprint("volume-", i), i < members); err != nil {
			return err
		}
	}
	if err := ensure(ctx, p.client, p.id, "part", option(s) == "part"); err != nil {
		return err
	}
	if s.DeletionTimestamp != nil {
		s.Finalizers = slices.DeleteFunc(s.Finalizers, func(f string) bool { return f == finalizer })
		_, err := p.client.AppsV1().StatefulSets(p.id).Update(ctx, s, metav1.UpdateOptions{})
		return err
	}
	return p.status(ctx, s)
}

// volumesOfMembers deletes the volume of a member that is marked as deleted.
func volumesOfMembers(ctx context.Context, p *program) error {
	if m := p.cached("member-1"); m != nil && m.DeletionTimestamp != nil {
		if err := ensure(ctx, p.client, p.id, "volume-1", false); err != nil {
			return err
		}
	}
	if s := p.parent(); s != nil {
		return p.status(ctx, s)
	}
	return nil
}

// server has the capacity of the parent, and is deleted and recreated for another one, after its volume.
func server(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	capacity := option(s)
	if err := ensure(ctx, p.client, p.id, "volume", true, "capacity", capacity); err != nil {
		return err
	}
	maps := p.client.CoreV1().ConfigMaps(p.id)
	m, err := maps.Get(ctx, "server", metav1.GetOptions{})
	if err == nil && m.Data["capacity"] != capacity {
		if err := maps.Delete(ctx, "server", metav1.DeleteOptions{}); err != nil {
			return err
		}
		if err := p.crash(ctx); err != nil {
			return err
		}
		if err := p.set("volume", "capacity", capacity); err != nil {
			return err
		}
	}
	if err := ensure(ctx, p.client, p.id, "server", true, "capacity", capacity); err != nil {
		return err
	}
	return p.status(ctx, s)
}

// scaleDown stores the size, and deletes the volume of a removed member only when the size changes.
func scaleDown(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	size := option(s)
	if err := ensure(ctx, p.client, p.id, "server", true, "size", "0"); err != nil {
		return err
	}
	m, err := p.client.CoreV1().ConfigMaps(p.id).Get(ctx, "server", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if m.Data["size"] != size {
		if err := p.set("server", "size", size); err != nil {
			return err
		}
		if size == "1" {
			if err := p.crash(ctx); err != nil {
				return err
			}
		}
		if err := ensure(ctx, p.client, p.id, "volume-1", size == "2"); err != nil {
			return err
		}
	}
	return p.status(ctx, s)
}

// certificates creates two, unless the first exists.
func certificates(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil || option(s) != "tls" {
		return nil
	}
	if _, err := p.client.CoreV1().ConfigMaps(p.id).Get(ctx, "certificate", metav1.GetOptions{}); apierrors.IsNotFound(err) {
		if err := create(ctx, p.client, p.id, "certificate"); err != nil {
			return err
		}
		if err := p.crash(ctx); err != nil {
			return err
		}
		if err := create(ctx, p.client, p.id, "certificate-internal"); err != nil {
			return err
		}
	}
	return p.status(ctx, s)
}

// keystore creates a keystore once, and then the member; a keystore that exists is an error.
func keystore(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil || option(s) != "tls" || s.Status.ObservedGeneration == s.Generation {
		return nil
	}
	if err := create(ctx, p.client, p.id, "keystore"); err != nil {
		return err
	}
	if err := p.crash(ctx); err != nil {
		return err
	}
	if err := create(ctx, p.client, p.id, "member-0"); err != nil {
		return err
	}
	return p.status(ctx, s)
}

// rollingRestart updates the configuration, and restarts the member only then.
func rollingRestart(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	for _, name := range []string{"configuration", "member-0"} {
		if err := ensure(ctx, p.client, p.id, name, true, "configuration", ""); err != nil {
			return err
		}
	}
	m, err := p.client.CoreV1().ConfigMaps(p.id).Get(ctx, "configuration", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if m.Data["configuration"] != option(s) {
		if err := p.set("configuration", "configuration", option(s)); err != nil {
			return err
		}
		if err := p.crash(ctx); err != nil {
			return err
		}
		if err := p.set("member-0", "configuration", option(s)); err != nil {
			return err
		}
	}
	return p.status(ctx, s)
}

// set changes a child.
func (p *program) set(name, key, value string) error {
	m, err := p.client.CoreV1().ConfigMaps(p.id).Get(p.ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if m.Data == nil {
		m.Data = map[string]string{}
	}
	m.Data[key] = value
	_, err = p.client.CoreV1().ConfigMaps(p.id).Update(p.ctx, m, metav1.UpdateOptions{})
	return err
}

// size returns the number of members.
func (p *program) size() (n int32) {
	for p.uid(fmt.Sprint("member-", n)) != "" {
		n++
	}
	return n
}

// oneStep removes one member at a time, and rejects larger steps.
func oneStep(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	now := p.size()
	if now > *s.Spec.Replicas+1 {
		return nil // not supported
	}
	if now > *s.Spec.Replicas {
		if err := ensure(ctx, p.client, p.id, fmt.Sprint("member-", now-1), false); err != nil {
			return err
		}
	}
	return onlyUp(ctx, p)
}

// onlyUp adds members, and removes none.
func onlyUp(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	for n := p.size(); n < *s.Spec.Replicas; n++ {
		if err := create(ctx, p.client, p.id, fmt.Sprint("member-", n)); err != nil {
			return err
		}
	}
	return p.status(ctx, s)
}

// needsMember reads a member without checking whether it exists.
func needsMember(ctx context.Context, p *program) error {
	s, member := p.parent(), p.cached("member-0")
	if s == nil || member.Data["ready"] != "yes" {
		return nil
	}
	return p.status(ctx, s)
}

// membersOfCache recreates a member that its cache lacks.
func membersOfCache(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	if p.cached("member-0") == nil {
		if err := create(ctx, p.client, p.id, "member-0"); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return p.status(ctx, s)
}

// agent runs the member that is assigned to its node.
func agent(node string) reconcile {
	return func(ctx context.Context, p *program) error {
		m := p.cached("member-0")
		return ensure(ctx, p.client, p.id, "running-on-"+node, m != nil && m.Data["node"] == node)
	}
}

// ownSize wants one more member every ten seconds. With the fault, it writes that into its cache, where it then finds it.
func (c *run) ownSize(ctx context.Context, p *program) error {
	s, err := p.factory.Apps().V1().StatefulSets().Lister().StatefulSets(c.id).Get("parent")
	if err != nil {
		return nil
	}
	if !c.crashes.Load() || s.Status.ObservedGeneration < s.Generation {
		return p.status(ctx, s.DeepCopy())
	}
	wanted := 2 + int32(time.Since(c.start)/(10*time.Second))
	changed := s
	if !c.faulty {
		changed = s.DeepCopy()
	}
	*changed.Spec.Replicas = wanted
	if *s.Spec.Replicas == wanted {
		return nil
	}
	_, err = p.client.AppsV1().StatefulSets(c.id).Update(ctx, changed, metav1.UpdateOptions{})
	return err
}

// timestamps reports when it last handled the parent: with the fault, in each reconcile.
func (c *run) timestamps(ctx context.Context, p *program) error {
	s := p.parent()
	if s == nil {
		return nil
	}
	if !c.crashes.Load() {
		return p.status(ctx, s)
	}
	s.Status.ObservedGeneration = s.Generation
	s.Status.UpdateRevision = strconv.FormatInt(time.Now().UnixNano(), 10)
	_, err := p.client.AppsV1().StatefulSets(c.id).UpdateStatus(ctx, s, metav1.UpdateOptions{})
	return err
}
