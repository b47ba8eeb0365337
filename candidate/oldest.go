package candidate

// OldestEmulationVersion is the strategy of that name: it picks the candidate
// with the lowest emulationVersion, among equals that with the lowest
// binaryVersion, then the one that was created first, in whole seconds, and then
// the first by name. Candidates without two versions that can be read are left
// out; it returns nil where none is left. (Upstream: pickBestLeaderOldestEmulationVersion,
// which settles an exact tie by chance.)
func OldestEmulationVersion(candidates []*LeaseCandidate) *LeaseCandidate {
	var best *LeaseCandidate
	var bestEmulation, bestBinary version
	for _, c := range candidates {
		emulation, ok := readTolerant(c.Spec.EmulationVersion)
		binary, ok2 := readTolerant(c.Spec.BinaryVersion)
		if !ok || !ok2 {
			continue
		}
		if best == nil || comesBefore(c, best, emulation.compare(bestEmulation), binary.compare(bestBinary)) {
			best, bestEmulation, bestBinary = c, emulation, binary
		}
	}
	return best
}

// comesBefore compares two candidates, given how their versions compare.
func comesBefore(c, d *LeaseCandidate, emulation, binary int) bool {
	if emulation != 0 {
		return emulation < 0
	}
	if binary != 0 {
		return binary < 0
	}
	if created, other := c.CreationTimestamp.Unix(), d.CreationTimestamp.Unix(); created != other {
		return created < other
	}
	return c.Name < d.Name
}
