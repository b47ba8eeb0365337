// Package first has the programs of README.md.
package first
