package timeline

// entry returns the entry of a lease, a new one if need be, with what is in the
// store of it.
func (r *Recorder) entry(p place) *entry {
	e := r.entries[p]
	if e == nil {
		e = &entry{place: p, offers: map[string]*Offer{}}
		r.entries[p] = e
		r.lookUp(e)
	}
	return e
}

// drop lets go of an entry that nothing is known of.
func (r *Recorder) drop(e *entry) {
	if e.isIdle() && r.entries[e.place] == e {
		delete(r.entries, e.place)
	}
}

// keep adds a record to those of a lease, and forgets the oldest where there are
// too many.
func (r *Recorder) keep(e *entry, rec record) {
	e.records = append(e.records, rec)
	r.queue = append(r.queue, e)
	r.kept++
	if len(e.records) > r.opts.PerLease {
		e.stale++ // the first of its places in the queue
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

// forget drops the oldest record of a lease. Its place is not cleared, since a
// state may share it: it goes when the list next grows.
func (r *Recorder) forget(e *entry) {
	e.records = e.records[1:]
	e.forgotten++
	r.forgotten++
	r.kept--
}

// tidy takes what stands for nothing out of the queue.
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
