package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

func TestProgramWritesATableAndNothingElse(t *testing.T) {
	stdout, stderr, status := program(t, "-electors", "2", "-kills", "1")
	assert.Zero(t, status)
	assert.Empty(t, stderr)
	lines := strings.Split(stdout, "\n")
	require.Len(t, lines, 8, stdout)
	assert.Equal(t, "2 electors, 1 kills; leaseDuration 15s, renewDeadline 10s, retryPeriod 2s", lines[0])
	assert.Regexp(t, `^LEADER +FROM +LAST RENEWED +TO +BEGAN +ENDED +RENEWALS +LEASETRANSITIONS$`, lines[2])
	assert.Regexp(t, `^elector-\d_1 +00:00:00\.\d{3} +00:00:\d\d\.\d{3} +00:00:\d\d\.\d{3} +created +expired +\d+ +0$`, lines[3])
	assert.Regexp(t, `^elector-\d_\d +00:\d\d:\d\d\.\d{3} .* +took over +still leads +\d+ +1$`, lines[4])
	assert.Equal(t, "no two led at once", lines[6])
}

func TestProgramFailsWithStatus1(t *testing.T) {
	stdout, stderr, status := program(t, "-electors", "0")
	assert.Equal(t, 1, status)
	assert.Empty(t, stdout)
	assert.Equal(t, "leaderelection: 0 electors and 3 kills: at least 1 and 0 are needed\n", stderr)
}

func TestPlayInVirtualTime(t *testing.T) {
	for name, s := range map[string]settings{
		"three electors":                 {classicTiming, 3, 3},
		"one that follows itself":        {classicTiming, 1, 2},
		"many, and nobody is killed":     {classicTiming, 10, 0},
		"with the timing of real time":   {quickTiming, 3, 5},
		"two, for longer than one watch": {classicTiming, 2, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				terms, err := play(t.Context(), s)
				require.NoError(t, err)
				require.Len(t, terms, s.kills+1)
				checkKills(t, s, terms)
			})
		})
	}
}

// checkKills checks that terms follow each other as they do if only kills end
// them.
func checkKills(t *testing.T, s settings, terms []term) {
	for i, got := range terms {
		assert.EqualValues(t, i, got.transitions)
		assert.GreaterOrEqual(t, got.renewals, int(s.leaseDuration/s.retryPeriod)-1, "of %s", got.holder)
		if i == len(terms)-1 {
			assert.Equal(t, lasting, got.ended)
		} else {
			assert.Equal(t, expired, got.ended)
		}
		if i == 0 {
			assert.Equal(t, created, got.began)
			continue
		}
		assert.Equal(t, tookOver, got.began)
		assert.NotEqual(t, terms[i-1].holder, got.holder)
		vacant := got.from.Sub(terms[i-1].until)
		assert.GreaterOrEqual(t, vacant, time.Duration(0))
		assert.LessOrEqual(t, vacant, 2*s.patience(), "an elector may see the last renewal late, and its expiry late")
	}
}

func TestPlayEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		_, err := play(ctx, settings{classicTiming, 3, 3})
		assert.ErrorIs(t, err, ctx.Err())
	})
}
