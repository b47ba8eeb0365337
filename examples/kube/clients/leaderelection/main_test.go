package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/kubecoord/kubecoord/internal/timeline"
	"github.com/kubecoord/kubecoord/lease"
)

// asProgram makes the test binary behave as the program itself.
const asProgram = "LEADERELECTION_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)
		main()
		return
	}
	silenceKlog()
	os.Exit(m.Run())
}

// program runs the program and returns what it wrote.
func program(t *testing.T, args ...string) (stdout, stderr string, status int) {
	self, err := os.Executable()
	require.NoError(t, err)
	var out, complaint bytes.Buffer
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return out.String(), complaint.String(), cmd.ProcessState.ExitCode()
}

func TestProgramPrintsWhoLeadsAndNothingElse(t *testing.T) {
	stdout, stderr, status := program(t, "-electors", "2", "-kills", "1")
	assert.Zero(t, status)
	assert.Empty(t, stderr)
	assert.Regexp(t, `^2 electors, 1 kills; leaseDuration 15s, renewDeadline 10s, retryPeriod 2s

(?:00:00:00\.\d{3} nobody leads
)?00:00:0\d\.\d{3} elector-\d_0 leads, leaseTransitions 0
00:00:\d\d\.\d{3} nobody leads
00:00:\d\d\.\d{3} elector-\d_\d leads, leaseTransitions 1

no two led at once
$`, stdout)
}

func TestProgramDrawsTheElections(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "a.svg")
	_, stderr, status := program(t, "-electors", "2", "-kills", "1", "-svg", picture)
	require.Zero(t, status, stderr)
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.Regexp(t, `elector-\d_0 leads, acquired, \d+ renewals, then expired`, string(svg))
}

func TestProgramFailsWithStatus1(t *testing.T) {
	stdout, stderr, status := program(t, "-electors", "0")
	assert.Equal(t, 1, status)
	assert.Empty(t, stdout)
	assert.Equal(t, "leaderelection: 0 electors and 3 kills: at least 1 and 0 are needed\n", stderr)
}

func TestEachKillHandsOverOnce(t *testing.T) {
	for name, s := range map[string]settings{
		"three electors, for hours":    {timing: classicTiming, electors: 3, kills: 200},
		"one that follows itself":      {timing: classicTiming, electors: 1, kills: 2},
		"many, and nobody is killed":   {timing: classicTiming, electors: 10},
		"with the timing of real time": {timing: quickTiming, electors: 3, kills: 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last, leader lease.Holding
				var lost time.Time
				terms := 0
				s.recorded = func(recorded timeline.Timeline) {
					require.Len(t, recorded.Leases, 1)
					spans := recorded.Leases[0].Spans
					require.Len(t, spans, s.kills+1)
					for i, span := range spans {
						assert.Equal(t, timeline.Acquired, span.Began)
						if i < s.kills {
							assert.Equal(t, timeline.Expired, span.Ended, "a leader that is killed releases nothing")
						}
					}
				}
				require.NoError(t, play(t.Context(), s, func(h lease.Holding) {
					switch {
					case h.Holder == "":
						lost = time.Now()
					case terms > 0:
						assert.Empty(t, last.Holder, "the Lease expired in between")
						assert.NotEqual(t, leader.Holder, h.Holder)
						assert.Greater(t, h.FencingToken, leader.FencingToken)
						assert.LessOrEqual(t, time.Since(lost), time.Duration(2*(1+leaderelection.JitterFactor)*float64(s.retryPeriod)),
							"an elector may see the last renewal late, and its expiry late")
						fallthrough
					default:
						assert.EqualValues(t, terms, h.LeaseTransitions)
						leader = h
						terms++
					}
					last = h
				}))
				assert.Equal(t, s.kills+1, terms)
			})
		})
	}
}

func TestRefereeSeesTwoLeaders(t *testing.T) {
	var r referee
	r.started(t.Context(), "a")
	r.stopped("a")
	r.started(t.Context(), "b")
	r.stopped("c")
	require.NoError(t, r.verdict())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r.started(gone, "c")
	require.NoError(t, r.verdict())
	r.started(t.Context(), "d")
	assert.EqualError(t, r.verdict(), "d began to lead while b did")
}
