package reference

import "syscall"

// endWithParent returns the attributes of a process that the kernel ends when this one is killed before Close.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
