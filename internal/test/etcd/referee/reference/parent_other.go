//go:build !linux

package reference

import "syscall"

// endWithParent returns no attributes: only Linux ends a process with its parent.
func endWithParent() *syscall.SysProcAttr { return nil }
