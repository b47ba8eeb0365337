package store

import (
	"errors"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Request is what every write has in common.
type Request struct {
	// Namespace and Name say which object is meant. A create ignores Name.
	Namespace, Name string
	// Version is the index of the API version whose rules hold.
	Version int
	// DryRun does everything but the write.
	DryRun bool
	// FieldManager names the writer.
	FieldManager string
	// Status tells that the request is for the status subresource, which the kind
	// must have. It is for updates.
	Status bool
	// Patch tells that the object was made by a patch.
	Patch bool
	// Applied tells that the object was made by Apply, which has ascribed its
	// fields already, and may create it whatever the kind.
	Applied bool
	// Origin is a number that is recorded with the change; see RecordedChange.
	Origin uint64
	// Warn, if not nil, is given texts to be sent along with the answer.
	Warn func(text string)
}

func (req *Request) warn(text string) {
	if req.Warn != nil {
		req.Warn(text)
	}
}

// Create stores a new object, given in the stored form with defaults filled
// in, and takes ownership of it.
func (r *Resource) Create(o Object, req Request) (*Item, error) {
	m := o.GetObjectMeta()
	wipeSystemFields(m)
	if err := matchNamespace(m, req.Namespace); err != nil {
		return nil, err
	}
	r.dedupOwners(m, req)
	r.track(o, nil, req)
	if m.Name != "" || m.GenerateName == "" {
		it, err := r.create(o, req)
		if errors.Is(err, meta.ReasonAlreadyExists) && m.GenerateName != "" {
			return nil, r.noUniqueName(m.Name, err)
		}
		return it, err
	}
	for attempt := 1; ; attempt++ {
		m.Name = r.generateName(m.Namespace, m.GenerateName, attempt, req.DryRun)
		it, err := r.create(r.kind.copy(o), req)
		if !errors.Is(err, meta.ReasonAlreadyExists) {
			return it, err
		}
		if attempt == generateAttempts {
			return nil, r.noUniqueName(m.Name, err)
		}
	}
}

// noUniqueName returns the answer to a create with a generateName, given the
// one that any create would get for the name.
func (r *Resource) noUniqueName(name string, taken error) error {
	gr := r.kind.groupResource()
	return meta.NewStatusError(http.StatusConflict, meta.ReasonAlreadyExists,
		&meta.StatusDetails{Name: name, Group: gr.Group, Kind: gr.Resource, RetryAfterSeconds: 1},
		taken.Error()+", the server was not able to generate a unique name for the object")
}

// create stores an object whose name is settled.
func (r *Resource) create(o Object, req Request) (*Item, error) {
	if err := r.prepareCreate(o, req); err != nil {
		return nil, err
	}
	m := o.GetObjectMeta()
	if v, err := parseVersion(m.ResourceVersion); err == nil && v != 0 && !req.DryRun {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	if err := r.checkSize(o, req); err != nil {
		return nil, err
	}
	return r.insert(o, req)
}

// prepareCreate fills in what the server sets on a new object and checks it.
func (r *Resource) prepareCreate(o Object, req Request) error {
	m := o.GetObjectMeta()
	m.UID = r.newUID()
	m.CreationTimestamp = meta.NewTime(r.st.now())
	r.kind.begin(o)
	if err := matchNamespace(m, req.Namespace); err != nil {
		return err
	}
	if errs := r.kind.validateCreate(req.Version, o); len(errs) > 0 {
		return errs.Status(r.kind.groupKind(), m.Name)
	}
	r.warnings(o, nil, req)
	return nil
}

// insert commits a new object, unless the name is taken.
func (r *Resource) insert(o Object, req Request) (*Item, error) {
	m := o.GetObjectMeta()
	k := key{m.Namespace, m.Name}
	if !req.DryRun {
		m.ResourceVersion = "" // a dry run never gets as far as the storage, which gives it
	}
	r.st.shares.share(o, nil)
	r.st.mu.Lock()
	defer r.st.mu.Unlock()
	if have := r.lookupLocked(k); have != nil {
		err := meta.NewAlreadyExists(r.kind.groupResource(), m.Name)
		if have.meta().DeletionTimestamp != nil {
			err.Status.Message = "object is being deleted: " + err.Status.Message
		}
		return nil, err
	}
	r.settleUIDLocked(m)
	if req.DryRun {
		return newItem(r.kind, o, 0), nil
	}
	return r.commitLocked(watch.Added, nil, o, req.Origin), nil
}

// matchNamespace fills in the namespace of the request, which is the only one
// the object may name.
func matchNamespace(m *meta.ObjectMeta, namespace string) error {
	if m.Namespace == "" || namespace == "" {
		m.Namespace = namespace
	}
	if m.Namespace != namespace {
		return meta.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// dedupOwners drops owner references that stand there twice, with a warning.
func (r *Resource) dedupOwners(m *meta.ObjectMeta, req Request) {
	duplicates := dedupOwnerReferences(m)
	if duplicates == nil {
		return
	}
	when := ""
	if req.Patch {
		when = " after mutating admission happens"
	}
	req.warn(".metadata.ownerReferences contains duplicate entries" + when +
		"; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
		strings.Join(duplicates, ", "))
}
