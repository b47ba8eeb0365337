package exact

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strconv"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Leases are the Leases of a store, or of a server by httpapi/client.
type Leases interface {
	Create(ctx context.Context, l *lease.Lease, opts store.CreateOptions) (*lease.Lease, error)
	Get(ctx context.Context, namespace, name string) (*lease.Lease, error)
	Update(ctx context.Context, l *lease.Lease, opts store.UpdateOptions) (*lease.Lease, error)
	Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*lease.Lease, error)
	Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*lease.Lease, error)
	List(ctx context.Context, opts store.ListOptions) (*store.List[lease.Lease], error)
	Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[lease.Lease], error]
}

// GoDoor is the Go API of a store, or of httpapi/client.
type GoDoor struct {
	Leases Leases
}

// label is the label that selectors use.
const label = "color"

func newLease(s State) *lease.Lease {
	l := &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: map[string]string{label: s.Color}},
		Spec:       lease.LeaseSpec{HolderIdentity: &s.Write},
	}
	if s.Version != 0 {
		l.ResourceVersion = strconv.FormatUint(s.Version, 10)
	}
	return l
}

// version parses a resourceVersion. "" is 0.
func version(s string) uint64 {
	v, _ := strconv.ParseUint(s, 10, 64)
	return v
}

func stateOf(l *lease.Lease) State {
	s := State{
		Namespace: l.Namespace, Name: l.Name, Version: version(l.ResourceVersion), UID: string(l.UID), Color: l.Labels[label],
		Kind: kindOf(l),
	}
	if l.Spec.HolderIdentity != nil {
		s.Write = *l.Spec.HolderIdentity
	}
	return s
}

func result(l *lease.Lease, err error) (State, error) {
	if err != nil {
		return State{}, err
	}
	return stateOf(l), nil
}

// Create implements Door.
func (d GoDoor) Create(ctx context.Context, s State) (State, error) {
	return result(d.Leases.Create(ctx, newLease(s), store.CreateOptions{}))
}

// Get implements Door. A Get of the Go API is always consistent.
func (d GoDoor) Get(ctx context.Context, namespace, name, _ string) (State, error) {
	return result(d.Leases.Get(ctx, namespace, name))
}

// Update implements Door.
func (d GoDoor) Update(ctx context.Context, s State) (State, error) {
	return result(d.Leases.Update(ctx, newLease(s), store.UpdateOptions{}))
}

// Patch implements Door.
func (d GoDoor) Patch(ctx context.Context, s State) (State, error) {
	return result(d.Leases.Patch(ctx, s.Namespace, s.Name, store.MergePatch, patchOf(s), store.PatchOptions{}))
}

// patchOf returns the merge patch for a write.
func patchOf(s State) []byte {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]string{label: s.Color}},
		"spec":     map[string]string{"holderIdentity": s.Write},
	})
	if err != nil {
		panic(err)
	}
	return data
}

// Delete implements Door.
func (d GoDoor) Delete(ctx context.Context, namespace, name, uid string) (State, error) {
	return result(d.Leases.Delete(ctx, namespace, name, store.DeleteOptions{UID: meta.UID(uid)}))
}

// List implements Door.
func (d GoDoor) List(ctx context.Context, opts ListOptions) (Page, error) {
	l, err := d.Leases.List(ctx, store.ListOptions{
		Namespace: opts.Namespace, LabelSelector: opts.selector(), Limit: int64(opts.Limit), Continue: opts.Continue,
		ResourceVersion: opts.Version, ResourceVersionMatch: opts.Match,
	})
	if err != nil {
		return Page{}, err
	}
	p := Page{Version: version(l.ResourceVersion), Continue: l.Continue, Remaining: -1}
	if l.RemainingItemCount != nil {
		p.Remaining = *l.RemainingItemCount
	}
	for _, item := range l.Items {
		p.Items = append(p.Items, stateOf(item))
	}
	return p, nil
}

func (o ListOptions) selector() string { return selector(o.Color) }

func selector(color string) string {
	if color == "" {
		return ""
	}
	return label + "=" + color
}

// Watch implements Door.
func (d GoDoor) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := store.WatchOptions{
			Namespace: opts.Namespace, Name: opts.Name, LabelSelector: selector(opts.Color), ResourceVersion: opts.Version,
			AllowWatchBookmarks: opts.Initial,
		}
		for e, err := range d.Leases.Watch(ctx, w) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !yield(Event{e.Type, stateOf(e.Object), e.InitialEventsEnd}, nil) {
				return
			}
		}
	}
}

// reason returns the reason of an API Status, or "" for any other error.
func reason(err error) meta.Reason {
	if s, ok := errors.AsType[*meta.StatusError](err); ok {
		return s.Status.Reason
	}
	return ""
}
