package bugs

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// reproductions prepare a case, begin, do the same workload with and without the fault, end, and report whether the effect is wrong.
var reproductions = map[string]func(*run) bool{
	"stale-deletion-mark": func(c *run) bool {
		p := c.launch(c.config, converge)
		c.add(1, finalizer)
		c.awaits("volume-0", true)
		p.stop()
		must(c, c.admin.AppsV1().StatefulSets(c.id).Delete(context.Background(), "parent", metav1.DeleteOptions{}))
		c.begin()
		p = c.launch(c.config, converge)
		await.True(c, "the first parent is gone", func() bool { return c.set() == nil })
		c.add(1, finalizer)
		return c.deletedAfterRestart(p, "volume-0")
	},
	"stale-scale": func(c *run) bool {
		p := c.launch(c.config, converge)
		c.add(2)
		c.awaits("volume-1", true)
		c.scale(1)
		c.awaits("volume-1", false)
		c.handled()
		c.begin()
		c.scale(2)
		return c.deletedAfterRestart(p, "volume-1")
	},
	"stale-member-mark": func(c *run) bool {
		c.add(2)
		must(c, c.member("member-1"))
		must(c, create(context.Background(), c.admin, c.id, "volume-1"))
		c.mark("member-1")
		c.begin()
		p := c.launch(c.config, volumesOfMembers)
		c.awaits("volume-1", false)
		c.release("member-1")
		must(c, c.member("member-1"))
		must(c, create(context.Background(), c.admin, c.id, "volume-1"))
		return c.deletedAfterRestart(p, "volume-1")
	},
	"stale-capacity": func(c *run) bool {
		p := c.launch(c.config, server)
		c.add(1)
		c.option("10")
		c.awaits("server", true)
		c.handled()
		c.begin()
		c.option("15")
		await.True(c, "resized", func() bool { m := c.child("server"); return m != nil && m.Data["capacity"] == "15" })
		c.handled()
		return c.deletedAfterRestart(p, "server")
	},
	"stale-option": func(c *run) bool {
		p := c.launch(c.config, converge)
		c.add(1)
		c.handled()
		c.begin()
		c.option("part")
		return c.deletedAfterRestart(p, "part")
	},

	"half-resize": func(c *run) bool {
		c.halfDone(server, "10", "15")
		return c.child("volume").Data["capacity"] != "15"
	},
	"half-scale-down": func(c *run) bool {
		c.halfDone(scaleDown, "2", "1")
		return c.uid("volume-1") != ""
	},
	"half-certificates": func(c *run) bool {
		c.halfDone(certificates, "", "tls")
		return c.uid("certificate-internal") == ""
	},
	"half-keystore": func(c *run) bool {
		c.halfDone(keystore, "", "tls")
		return c.uid("member-0") == ""
	},
	"half-rolling-restart": func(c *run) bool {
		c.halfDone(rollingRestart, "1", "2")
		return c.child("member-0").Data["configuration"] != "2"
	},

	"unseen-deletion-mark": func(c *run) bool {
		c.add(2)
		must(c, c.member("member-1"))
		must(c, create(context.Background(), c.admin, c.id, "volume-1"))
		p := c.launch(c.config, paused(volumesOfMembers))
		c.begin()
		resume := c.pauseIf()
		c.mark("member-1")
		if !c.faulty {
			c.awaits("volume-1", false)
		}
		c.release("member-1")
		c.end()
		resume()
		p.settle()
		return c.uid("volume-1") != ""
	},
	"unseen-step": func(c *run) bool {
		c.add(3)
		p := c.launch(c.config, paused(oneStep))
		c.awaits("member-2", true)
		c.begin()
		resume := c.pauseIf()
		c.scale(2)
		if !c.faulty {
			c.awaits("member-2", false)
		}
		c.scale(1)
		c.end()
		resume()
		p.settle()
		return c.uid("member-1") != ""
	},
	"unseen-scale-up": func(c *run) bool {
		p := c.launch(c.through(), onlyUp)
		c.add(1)
		c.awaits("member-0", true)
		c.begin()
		if c.faulty {
			c.proxy.HalfOpen()
		}
		c.upAndDown()
		c.end()
		must(c, c.proxy.Restore())
		p.settle()
		return c.uid("member-2") == ""
	},
	"unseen-growth": func(c *run) bool {
		p := c.launch(c.config, onlyUp, func(p *program) { p.onParent = func() { c.pause.Lock(); c.pause.Unlock() } }) //nolint:staticcheck // waits
		c.add(1)
		c.awaits("member-0", true)
		c.begin()
		resume := c.pauseIf()
		c.upAndDown()
		c.end()
		resume()
		p.settle()
		return c.uid("member-2") == ""
	},

	"nil-member": func(c *run) bool {
		c.add(1)
		must(c, create(context.Background(), c.admin, c.id, "member-0", "ready", "yes"))
		p := c.launch(c.config, needsMember)
		c.handled()
		c.begin()
		if c.faulty {
			must(c, ensure(context.Background(), c.admin, c.id, "member-0", false))
			await.True(c, "the program sees it", func() bool { return p.cached("member-0") == nil })
		}
		c.scale(2)
		c.end()
		s := c.set()
		return s.Status.ObservedGeneration < s.Generation
	},
	"lost-event": func(c *run) bool {
		config := c.config
		if c.faulty {
			config = losing(config, "member-0")
		}
		c.launch(config, membersOfCache)
		c.add(1)
		c.awaits("member-0", true)
		c.handled()
		c.begin()
		must(c, ensure(context.Background(), c.admin, c.id, "member-0", false))
		c.end()
		return c.uid("member-0") == ""
	},
	"frozen-watch": func(c *run) bool {
		c.launch(c.atSecond(), converge)
		c.add(1)
		c.awaits("volume-0", true)
		c.handled()
		c.begin()
		c.scale(2)
		c.end()
		return c.uid("volume-1") == ""
	},
	"time-travel": func(c *run) bool {
		must(c, create(context.Background(), c.admin, c.id, "member-0", "node", "a"))
		p := c.launch(c.config, agent("a"))
		c.awaits("running-on-a", true)
		c.begin()
		must(c, ensure(context.Background(), c.admin, c.id, "member-0", false))
		c.awaits("running-on-a", false)
		p.stop()
		must(c, create(context.Background(), c.admin, c.id, "member-0", "node", "b"))
		must(c, create(context.Background(), c.admin, c.id, "running-on-b")) // by the agent of another node
		c.launch(c.atSecond(), agent("a"))
		c.end()
		return c.uid("running-on-a") != "" && c.uid("running-on-b") != ""
	},
	"silent-watch": func(c *run) bool {
		seen, ended := c.watchOnce(c.through())
		c.begin()
		if c.faulty {
			c.proxy.Reset()
			<-ended
		}
		must(c, create(context.Background(), c.admin, c.id, "news"))
		c.end()
		_, ok := seen.Load("news")
		return !ok
	},
	"stopped-informer": func(c *run) bool {
		p := c.launch(c.config, converge)
		c.add(1)
		c.awaits("volume-0", true)
		c.handled()
		go heartbeat(p.ctx, p.client, c.id)
		c.begin()
		if c.faulty {
			p.cancel()
			p.factory.Shutdown()
		}
		c.scale(2)
		c.end()
		return c.uid("volume-1") == ""
	},
	"old-state": func(c *run) bool {
		must(c, create(context.Background(), c.admin, c.id, "job"))
		p := c.launch(c.through(), nothing)
		await.True(c, "synced", p.factory.Core().V1().ConfigMaps().Informer().HasSynced)
		await.True(c, "cached", func() bool { return p.cached("job") != nil })
		c.begin()
		if c.faulty {
			c.proxy.Cut()
		}
		must(c, ensure(context.Background(), c.admin, c.id, "job", false))
		c.end()
		wrong := p.cached("job") != nil
		must(c, c.proxy.Restore())
		return wrong
	},
	"read-before-sync": func(c *run) bool {
		must(c, create(context.Background(), c.admin, c.id, "features"))
		must(c, create(context.Background(), c.admin, c.id, "labels"))
		config := c.through()
		c.begin()
		if c.faulty {
			c.proxy.Delay(c.hold)
		}
		p := c.launch(config, nothing)
		limited, cancel := context.WithTimeout(p.ctx, 12*time.Second)
		defer cancel()
		maps := p.factory.Core().V1().ConfigMaps()
		for !maps.Informer().HasSynced() && limited.Err() == nil { // and then goes on
			time.Sleep(100 * time.Millisecond)
		}
		if _, err := maps.Lister().ConfigMaps(c.id).Get("features"); apierrors.IsNotFound(err) {
			must(c, ensure(context.Background(), c.admin, c.id, "labels", false))
		}
		c.end()
		must(c, c.proxy.Restore())
		return c.uid("labels") == ""
	},
	"mutated-cache": func(c *run) bool {
		c.add(1)
		c.launch(c.config, c.ownSize, func(p *program) { p.resync = 10 * time.Second })
		c.begin()
		c.crashes.Store(true) // it wants more from now on
		c.end()
		return *c.set().Spec.Replicas == 1
	},
	"hot-loop": func(c *run) bool {
		c.add(1)
		p := c.launch(c.config, c.timestamps)
		c.handled()
		c.begin()
		before := p.syncs.Load()
		c.crashes.Store(c.faulty)
		c.scale(2)
		c.end()
		return float64(p.syncs.Load()-before) > c.hold.Seconds()
	},
	"leader-never-back": func(c *run) bool {
		ended := c.leadOnce(c.through())
		c.begin()
		if c.faulty {
			c.proxy.Cut()
		}
		c.end()
		must(c, c.proxy.Restore())
		if c.faulty {
			<-ended
		}
		lease, err := c.admin.CoordinationV1().Leases(c.id).Get(context.Background(), "lock", metav1.GetOptions{})
		must(c, err)
		return time.Since(lease.Spec.RenewTime.Time) > 15*time.Second
	},
}

const finalizer = "example.com/volumes"

// deletedAfterRestart waits for a child, restarts the program at the second API server, and reports whether it deleted the child.
func (c *run) deletedAfterRestart(p *program, child string) bool {
	uid := c.awaits(child, true)
	p.stop()
	p = c.launch(c.atSecond(), p.do)
	await.True(c, "the restarted program reconciles", func() bool { return p.done.Load() > 0 })
	c.end()
	return c.uid(child) != uid
}

// halfDone lets a program handle the first option, and then the second. With the fault, it ends between two writes, and again five
// seconds after each start until the end of the fault. The pauses before its starts are those of a kubelet.
func (c *run) halfDone(do reconcile, first, second string) {
	p := c.launch(c.config, do)
	c.add(1)
	if first != "" {
		c.option(first)
		c.handled()
	}
	c.begin()
	c.crashes.Store(c.faulty)
	c.option(second)
	if c.faulty {
		<-p.crashed
		c.crashes.Store(false)
		for backoff := 10 * time.Second; ; backoff *= 2 {
			p.stop()
			time.Sleep(backoff)
			p = c.launch(c.config, do)
			time.Sleep(5 * time.Second)
			if time.Now().Add(2 * backoff).After(c.start.Add(c.hold)) {
				break
			}
		}
	}
	c.end()
}

// settle waits until the program has handled the parent as it is.
func (p *program) settle() {
	await.True(p, "the program sees the parent", func() bool { s := p.parent(); return s != nil && s.ResourceVersion == p.run.set().ResourceVersion })
	begun := p.syncs.Load()
	p.queue.Add("parent")
	await.True(p, "it is handled", func() bool { return p.done.Load() > begun })
}

// pauseIf holds the worker or the handler, if the case is faulty.
func (c *run) pauseIf() (resume func()) {
	if !c.faulty {
		return func() {}
	}
	c.pause.Lock()
	return c.pause.Unlock
}

// upAndDown grows the parent for a while, until a program without the fault has seen it.
func (c *run) upAndDown() {
	c.scale(3)
	if !c.faulty {
		c.awaits("member-2", true)
	}
	c.scale(1)
}

// member creates a child with a finalizer, as of a kubelet.
func (c *run) member(name string) error {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{finalizer}}}
	_, err := c.admin.CoreV1().ConfigMaps(c.id).Create(context.Background(), m, metav1.CreateOptions{})
	return err
}

func (c *run) mark(name string) {
	must(c, c.admin.CoreV1().ConfigMaps(c.id).Delete(context.Background(), name, metav1.DeleteOptions{}))
}

func (c *run) release(name string) {
	m := c.child(name)
	m.Finalizers = nil
	_, err := c.admin.CoreV1().ConfigMaps(c.id).Update(context.Background(), m, metav1.UpdateOptions{})
	must(c, err)
}
