package timeline

// maxRecords is how many spans, gaps, marks and past offers are kept beside the current
// leaders, gaps and candidates.
const maxRecords = 20000

// kept is a record of an entry: a Span, a Gap, a Mark or a pastOffer that has ended.
type kept struct {
	e   *entry
	rec any
}

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
	if !e.exists && len(e.offers) == 0 && e.records == 0 && r.entries[e.namespacedName] == e {
		delete(r.entries, e.namespacedName)
	}
}

// keep adds a record, and forgets the oldest one if there are too many.
func (r *Recorder) keep(e *entry, rec any) {
	r.records = append(r.records, kept{e, rec})
	e.records++
	if len(r.records) > r.most {
		oldest := r.records[0].e
		r.records = r.records[1:]
		oldest.records--
		oldest.forgotten++
		r.forgotten++
		r.drop(oldest)
	}
}
