// A kubecoord server for tests, over TLS, with its functions below /debug/ (flag -debug).
//
//     const server = await startServer();
//     const fork = await server.fork(); // a copy of the server, for example for each test
//     kubeconfig.loadFromString(fork.kubeconfig);
//     const fault = await fork.fault({ verb: 'update', resource: 'leases', first: 2, answer: { code: 409 } });
//     ...
//     assert.equal(await fault.hits(), 2);
//     await server.stop();
//
// This module needs only Node, 20 or later.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A server or a fork of one, for clients with its kubeconfig, with its faults, forks, fixtures and history. */
export class Fork {
  constructor(kubeconfig) {
    this.kubeconfig = kubeconfig;
    const { cluster } = JSON.parse(kubeconfig).clusters[0];
    this.url = cluster.server;
    this.ca = Buffer.from(cluster['certificate-authority-data'], 'base64');
  }

  /** Sends a request below /debug/ and returns the answer: decoded if it is JSON, or else as text. */
  async ask(method, path, body, contentType = 'application/json') {
    const sent = request(`${this.url}/debug/${path}`, { method, ca: this.ca });
    if (body !== undefined) {
      sent.setHeader('Content-Type', contentType);
      sent.write(typeof body === 'string' ? body : JSON.stringify(body));
    }
    sent.end();
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const part of response.setEncoding('utf8')) {
      text += part;
    }
    if (response.statusCode >= 400) {
      throw new Error(JSON.parse(text).message);
    }
    return response.headers['content-type'] === 'application/json' ? JSON.parse(text) : text;
  }

  /** Activates a fault; docs/testing.md lists its members. */
  async fault(fault) {
    return new Fault(this, (await this.ask('POST', 'faults', fault)).id);
  }

  /** Returns a fork: a server of its own with the same state; { name } names it. */
  async fork(options = {}) {
    const { url } = await this.ask('POST', 'forks', options);
    const kubeconfig = JSON.parse(this.kubeconfig);
    kubeconfig.clusters[0].cluster.server = url;
    return new Fork(JSON.stringify(kubeconfig));
  }

  /** Restores the state at the start, or with { to } the state of a fork. */
  async reset(options = {}) {
    await this.ask('POST', 'reset', options);
  }

  /** Loads YAML, all of it or nothing. */
  async load(fixture) {
    await this.ask('POST', 'fixtures', fixture, 'application/yaml');
  }

  /** Returns the state as YAML, without fields that differ between runs. */
  dump() {
    return this.ask('GET', 'fixtures?omitServerFields=true');
  }

  /** Returns a line for each request. */
  async requests() {
    return (await this.ask('GET', 'requests')).requests.map((request) => request.text);
  }

  /** Returns all changes of objects. */
  async history() {
    return (await this.ask('GET', 'history')).changes;
  }

  /** Moves the clock of a server with -clock, for example by '90s'. */
  async forward(duration) {
    await this.ask('POST', 'clock', { forward: duration });
  }

  /** Returns a text for each Lease with two holders at once and each lost update. */
  async verdict() {
    const { twoHolders, lostUpdates } = await this.ask('GET', 'verdict');
    return [...twoHolders, ...lostUpdates].map((finding) => finding.text);
  }
}

/** An active fault. */
class Fault {
  constructor(server, id) {
    this.server = server;
    this.path = `faults/${id}`;
  }

  /** Returns the number of requests that the fault has changed. */
  async hits() {
    return (await this.server.ask('GET', this.path)).hits;
  }

  /** Removes the fault. */
  async remove() {
    await this.server.ask('DELETE', this.path);
  }
}

/**
 * Starts a server in a new process: the program in KUBECOORD_SERVER, or one that is built. The arguments are further
 * flags, such as '-clock', '2026-01-01T00:00:00Z'.
 */
export async function startServer(...flags) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecoord-'));
  let program = process.env.KUBECOORD_SERVER;
  if (!program) {
    program = join(folder, 'server');
    execFileSync('go', ['build', '-o', program, '.'], { cwd: new URL('../server', import.meta.url), stdio: 'inherit' });
  }
  const file = join(folder, 'kubeconfig');
  const args = ['-debug', '-tls', '-listen', '127.0.0.1:0', '-kubeconfig', file, ...flags];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}`);
  });
  await Promise.race([once(createInterface(child.stdout), 'line'), ended]); // it serves now
  const server = new Fork(readFileSync(file, 'utf8'));
  server.file = file;
  server.stop = async () => {
    child.kill();
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  };
  return server;
}
