// A kubecoord server for tests, and what its -debug offers below /debug/.
//
//     const server = await startServer();
//     const world = await server.fork(); // a world of its own, such as one for each test
//     const fault = await world.fault({ verb: 'update', resource: 'leases', first: 2, answer: { code: 409 } });
//     ...
//     assert.equal(await fault.hits(), 2);
//     await server.stop();
//
// Nothing but node is needed here.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A world: the API at url, and faults, forks, fixtures and history beside it. */
export class World {
  constructor(url) {
    this.url = url;
  }

  /** Returns what is answered below /debug/: JSON as what it says, all else as text. */
  async ask(method, path, body, contentType = 'application/json') {
    const init = { method };
    if (body !== undefined) {
      init.headers = { 'Content-Type': contentType };
      init.body = typeof body === 'string' ? body : JSON.stringify(body);
    }
    const response = await fetch(`${this.url}/debug/${path}`, init);
    const text = await response.text();
    if (!response.ok) {
      throw new Error(JSON.parse(text).message);
    }
    return response.headers.get('Content-Type') === 'application/json' ? JSON.parse(text) : text;
  }

  /** Activates a fault; its members are the fields of apitest.Fault. */
  async fault(fault) {
    return new Fault(this, (await this.ask('POST', 'faults', fault)).id);
  }

  /** Returns a world of its own with the same state; { name } names it. */
  async fork(options = {}) {
    return new World((await this.ask('POST', 'worlds', options)).url);
  }

  /** Goes back to the state at the start, or with { to } to that of another world. */
  async reset(options = {}) {
    await this.ask('POST', 'reset', options);
  }

  /** Loads YAML, all of it or nothing. */
  async load(fixture) {
    await this.ask('POST', 'fixtures', fixture, 'application/yaml');
  }

  /** Returns the state as YAML without what differs from run to run. */
  dump() {
    return this.ask('GET', 'fixtures?omitServerFields=true');
  }

  /** Returns a line for each request that was received. */
  async requests() {
    return (await this.ask('GET', 'requests')).requests.map((request) => request.text);
  }

  /** Returns the changes that were made. */
  async history() {
    return (await this.ask('GET', 'history')).changes;
  }

  /** Lets time pass at once, such as '90s', on a server with -clock. */
  async forward(duration) {
    await this.ask('POST', 'clock', { forward: duration });
  }

  /** Returns a text for each Lease that two held at once and each update that was lost. */
  async verdict() {
    const { twoHolders, lostUpdates } = await this.ask('GET', 'verdict');
    return [...twoHolders, ...lostUpdates].map((finding) => finding.text);
  }
}

/** An active fault. */
class Fault {
  constructor(world, id) {
    this.world = world;
    this.path = `faults/${id}`;
  }

  /** How many requests were hit. */
  async hits() {
    return (await this.world.ask('GET', this.path)).hits;
  }

  /** Takes the fault away. */
  async remove() {
    await this.world.ask('DELETE', this.path);
  }
}

/**
 * Starts a server in a process of its own: that in KUBECOORD_SERVER, or one that is built. What it is given are more
 * flags, such as '-clock', '2026-01-01T00:00:00Z'.
 */
export async function startServer(...flags) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecoord-'));
  let program = process.env.KUBECOORD_SERVER;
  if (!program) {
    program = join(folder, 'server');
    execFileSync('go', ['build', '-o', program, '.'], { cwd: new URL('../server', import.meta.url), stdio: 'inherit' });
  }
  const kubeconfig = join(folder, 'kubeconfig');
  const args = ['-debug', '-listen', '127.0.0.1:0', '-kubeconfig', kubeconfig, ...flags];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}`);
  });
  const [first] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  const server = new World(first.replace('serving on ', ''));
  server.kubeconfig = kubeconfig;
  server.stop = async () => {
    child.kill();
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  };
  return server;
}
