// Package verdicts runs correct and faulty client-go clients. It tests the findings of apitest's Verify about the
// clients, and the findings of package consistency about their server.
package verdicts
