package timeline

// entry returns the entry of a Lease. A new entry begins with the Lease in the store.
func (r *Recorder) entry(p namespacedName) *entry {
	e := r.entries[p]
	if e == nil {
		e = &entry{namespacedName: p, offers: map[string]*Offer{}}
		r.entries[p] = e
		r.lookUp(e)
	}
	return e
}

// drop removes an idle entry.
func (r *Recorder) drop(e *entry) {
	if e.isIdle() && r.entries[e.namespacedName] == e {
		delete(r.entries, e.namespacedName)
	}
}

// keep adds a record, and forgets the oldest ones if there are too many.
func (r *Recorder) keep(e *entry, rec record) {
	e.records = append(e.records, rec)
	r.queue = append(r.queue, e)
	r.kept++
	if len(e.records) > r.opts.PerLease {
		e.stale++ // its first item in the queue
		r.forget(e)
	}
	for r.kept > r.opts.Total {
		oldest := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		if oldest.stale > 0 {
			oldest.stale--
			continue
		}
		r.forget(oldest)
		r.drop(oldest)
	}
	if len(r.queue) > 2*r.opts.Total {
		r.tidy()
	}
}

// forget drops the oldest record of a Lease.
func (r *Recorder) forget(e *entry) {
	e.records[0] = nil // for the garbage collector
	e.records = e.records[1:]
	e.forgotten++
	r.forgotten++
	r.kept--
}

// tidy removes stale items from the queue.
func (r *Recorder) tidy() {
	queue := make([]*entry, 0, r.kept)
	for _, e := range r.queue {
		if e.stale > 0 {
			e.stale--
			continue
		}
		queue = append(queue, e)
	}
	r.queue = queue
}
