// Package verdicts holds tests of what apitest's Verify makes of client-go's
// clients: of those that do well, whatever an adversary does to them, and of those
// that do not, or whose server does not.
package verdicts
