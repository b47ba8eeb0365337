// Package kind describes kinds of objects: their names and versions, the rules of their writes, their rows in tables, and their
// subresources. Package store makes a description ready for use.
package kind
