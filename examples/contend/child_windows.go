package main

import (
	"os"
	"syscall"
)

// Windows has no SIGTERM and no groups as Unix has them: the command is killed at once, and
// the processes that it has started are left.

func ownGroup() *syscall.SysProcAttr { return nil }

func terminate(p *os.Process) error { return p.Kill() }

func killGroup(*os.Process) {}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
