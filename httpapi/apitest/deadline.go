package apitest

import (
	"net/http"
	"time"
)

// SetWriteDeadline sets the deadline of the connection. It does nothing while a Silent
// partition holds the answer back: its client would not see the end of the connection.
func (a *answer) SetWriteDeadline(at time.Time) error {
	if a.x.held() {
		return nil
	}
	return http.NewResponseController(a.w).SetWriteDeadline(at)
}

// held reports whether a partition holds the answer back.
func (x *exchange) held() bool {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	for _, gate := range x.gates {
		select {
		case <-gate:
		default:
			return true
		}
	}
	return false
}
