// Package first is the smallest test on an API server with all kinds.
package first
