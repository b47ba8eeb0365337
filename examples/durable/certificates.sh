#!/bin/bash
# Makes an authority, ca.key and ca.crt, and a key and a certificate for each address: certificates.sh ADDRESS...
# A certificate is also for 127.0.0.1. docs/operations.md says where the files belong.
set -e
openssl ecparam -name prime256v1 -genkey -noout -out ca.key
openssl req -x509 -new -key ca.key -days 3650 -subj /CN=locks -out ca.crt
for ip in "$@"; do
  openssl ecparam -name prime256v1 -genkey -noout -out "$ip.key"
  openssl req -new -key "$ip.key" -subj "/CN=$ip" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -out "$ip.crt" \
      -extfile <(printf 'subjectAltName=IP:%s,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth' "$ip")
done
