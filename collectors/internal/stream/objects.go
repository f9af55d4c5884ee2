package stream

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// SetNamespace sets the only namespace that the informer watches, empty for all. It is called before the first request. Objects of
// other namespaces are counted: the filter of the ListerWatcher has no effect.
func (c *Connection) SetNamespace(namespace string) {
	c.namespace = namespace
	if namespace != "" {
		c.metrics.foreign.Add(0) // a rule must see the first increase
	}
}

// inspect counts a received object that is outside of the informer's namespace, or that has no comparable resourceVersion
// unless versioned says that it has one. It takes a few nanoseconds and panics if the object cannot be read.
func (c *Connection) inspect(object runtime.Object, versioned bool) {
	o, err := meta.Accessor(object)
	if err != nil {
		return
	}
	if c.namespace != "" && o.GetNamespace() != c.namespace && o.GetNamespace() != "" {
		c.metrics.foreign.Add(1)
	}
	if !versioned {
		if _, versioned = rv.Parse(o.GetResourceVersion()); !versioned {
			c.metrics.unversioned.Add(1)
		}
	}
}

// inspectPage inspects the objects of a page of a LIST. It takes about 10 ns per object, far less than decoding it.
func (c *Connection) inspectPage(page runtime.Object) {
	defer func() { _ = recover() }() // the reflector reports objects that cannot be read
	_ = meta.EachListItem(page, func(object runtime.Object) error {
		c.inspect(object, false)
		c.listEcho(object)
		return nil
	})
}

// listEcho looks for the echo of a write in an object of a list: after the loss of a watch, there is no event.
func (c *Connection) listEcho(object runtime.Object) {
	if version, ok := rv.Parse(rv.Of(object)); ok {
		c.Echo.Listed(version, c.clock.Now)
	}
}

// OnListLost sets a function that is called with the number of objects that a list lost although the Transform kept them.
func (c *Connection) OnListLost(f func(objects int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listLost = f
}

// expectTransforms is called when a list has been received: client-go is about to transform its objects.
func (c *Connection) expectTransforms(items, received int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed, c.nils = items-c.transformErrors, 0
	if c.listLost != nil && c.listed > 0 {
		c.lastTransform.Store(c.firstTransform + int64(received+c.listed))
	}
}

// Transformed records that the Transform returned for an object with the given resourceVersion, 0 if it has none. After a list,
// client-go transforms all of its objects, and then stores all of them or, if one became nil, none. For a streaming list, client-go
// has already transformed each object on receipt. Outside of lists, a call costs two atomic operations.
func (c *Connection) Transformed(version uint64, toNil bool) {
	n, last := c.transforms.Add(1), c.lastTransform.Load()
	if last == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case n <= last-int64(c.listed): // the call on receipt, of a streaming list
		return
	case version > c.lastList.Load().Version: // an event: the Transform failed, or the list had an object twice
		c.lastTransform.Store(0)
		return
	}
	if toNil {
		c.nils++
	}
	if n == last {
		c.lastTransform.Store(0)
		if c.nils > 0 && c.listLost != nil {
			c.listLost(c.listed - c.nils)
		}
	}
}

// TransformFailed records that the Transform returned an error. client-go leaves the object out of a streaming list that it
// receives, and fails a list that it stores.
func (c *Connection) TransformFailed() {
	n := c.transforms.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch last := c.lastTransform.Load(); {
	case last == 0:
		c.transformErrors++
	case n <= last-int64(c.listed): // the call on receipt: the proxy has already read the end of the list
		c.listed--
		c.lastTransform.Store(last - 1)
	default:
		c.lastTransform.Store(0)
	}
}
