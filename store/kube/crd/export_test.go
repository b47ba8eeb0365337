package crd

// Forget makes the next definitions be read as in a new process.
func Forget() {
	m := made()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = nil
}
