// Package verdicts tests what apitest's Verify finds in the behaviour of client-go's
// clients, good and bad, and what package consistency finds in that of their server.
package verdicts
