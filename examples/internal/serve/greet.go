package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
)

// Greet prints the address, the kubeconfig, lines about the server, and commands for a first try. A shell runs the commands as they are,
// unless clients need certificates, which the server does not have.
func (l *Listener) Greet(out io.Writer, about string) {
	kubeconfig := "none; -kubeconfig FILE writes one"
	if l.front.Kubeconfig != "" {
		kubeconfig = l.front.Kubeconfig
	}
	fmt.Fprintf(out, "serving on %s\nkubeconfig: %s\n%stry:\n", l.URL(), kubeconfig, about)
	if l.front.Try != nil {
		l.greetKubectl(out)
		return
	}
	const leases = "/apis/coordination.k8s.io/v1/leases"
	fmt.Fprintf(out, "  %s\n", l.Curl(leases))
	fmt.Fprintf(out, `  %s \
    -X POST -H 'Content-Type: application/json' -d '{"metadata":{"name":"hello"},"spec":{"holderIdentity":"me"}}'`+"\n",
		l.Curl("/apis/coordination.k8s.io/v1/namespaces/default/leases"))
	fmt.Fprintf(out, "  %s -N\n", l.Curl(leases+"?watch=true"))
	fmt.Fprintf(out, "  %s\n", l.kubectl("get leases --all-namespaces"))
}

// Curl returns a command that reads a path.
func (l *Listener) Curl(path string) string {
	f, base := l.front, l.URL()
	args := []string{"curl"}
	if cert := l.Certificate(); cert != nil {
		if f.TLSCert != "" {
			args = append(args, "--cacert", quoteShell(f.TLSCert))
		} else { // no file has the certificate
			sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
			args = append(args, "--insecure", "--pinnedpubkey", "sha256//"+base64.StdEncoding.EncodeToString(sum[:]))
		}
		if name := l.ServerName(); name != "" {
			host, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "https://"))
			args = append(args, "--connect-to", quoteShell("::"+net.JoinHostPort(host, port)))
			base = "https://" + net.JoinHostPort(name, port)
		}
	}
	switch {
	case f.TokenFile != "":
		args = append(args, "-H", `"Authorization: Bearer `+l.tokenCommand()+`"`)
	case f.ClientCA != "":
		args = append(args, "--cert YOUR.crt --key YOUR.key")
	}
	return strings.Join(append(args, quoteShell(base+path)), " ")
}

// tokenCommand returns a command that prints the first token. A token itself does not belong into
// the log of a service.
func (l *Listener) tokenCommand() string {
	return `$(grep '^[^#]' ` + quoteShell(l.front.TokenFile) + ` | head -n 1 | cut -d , -f 1 | tr -d '"')`
}

// greetKubectl prints the commands of Options.Try, or why there are none.
func (l *Listener) greetKubectl(out io.Writer) {
	for _, arguments := range l.front.Try {
		command := l.kubectl(arguments)
		if strings.HasPrefix(command, "#") {
			fmt.Fprintf(out, "  %s\n  %s\n", command, l.Curl("/apis"))
			return
		}
		fmt.Fprintf(out, "  %s\n", command)
	}
}

// kubectl returns a command with its arguments, or why there is none.
func (l *Listener) kubectl(arguments string) string {
	f := l.front
	args := []string{"kubectl"}
	switch {
	case f.TokenFile != "" && l.Certificate() == nil:
		return "# kubectl sends tokens by HTTPS only: set -tls or -tls-cert"
	case f.TokenFile == "" && f.ClientCA != "":
		args = append(args, "--client-certificate YOUR.crt --client-key YOUR.key")
	}
	switch {
	case f.Kubeconfig != "":
		args = append(args, "--kubeconfig", quoteShell(f.Kubeconfig))
	case f.TLSCert == "" && l.Certificate() != nil:
		return "# for kubectl set -kubeconfig, which gets the certificate too"
	default:
		args = append(args, "--server", quoteShell(l.URL()))
		if l.Certificate() != nil {
			args = append(args, "--certificate-authority", quoteShell(f.TLSCert))
		}
		if name := l.ServerName(); name != "" {
			args = append(args, "--tls-server-name", quoteShell(name))
		}
		if f.TokenFile != "" {
			args = append(args, `--token "`+l.tokenCommand()+`"`)
		} else if l.Certificate() != nil && f.ClientCA == "" {
			args = append(args, "--token", "anonymous") // or kubectl asks for a user name
		}
	}
	return strings.Join(append(args, arguments), " ")
}

var plainWord = regexp.MustCompile(`^[-+=:,./_A-Za-z0-9@%]+$`)

// quoteShell returns a text as one word of a shell.
func quoteShell(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
