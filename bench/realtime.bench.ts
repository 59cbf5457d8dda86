/**
 * The cost of a realtime session of protocol A: CPU of the gateway's process an append, as a ratio to a bare
 * uWebSockets.js echo of the same bytes, commits apart; and memory of an idle session beyond the bare socket's, as
 * the slope between two numbers of sessions after a collection. REALTIME_SOCKETS and REALTIME_IDLE set the scale.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../test/fixtures/gateway.js';
import { Inspected, INSPECTABLE } from './inspected.js';
import { cpuMs, median, row } from './measure.js';
import type { Address, Outcome, Task } from './realtime-load.js';

const SOCKETS = Number(process.env['REALTIME_SOCKETS'] ?? 1000);
const IDLE = Number(process.env['REALTIME_IDLE'] ?? 10_000);
const ROUNDS = 5;
const SECONDS = 6;

const scriptOf = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

interface Server extends Address {
  readonly pid: number;
  stderr(): string;
  stop(): Promise<unknown>;
}

async function startEcho(): Promise<Server> {
  const env = { ...process.env, NODE_OPTIONS: INSPECTABLE };
  const child = spawn(process.execPath, [scriptOf('realtime-echo')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async (): Promise<void> => {
    child.kill();
    await once(child, 'exit');
  };
  const address = { port: Number(line), path: '/', authorization: 'none' };
  return { ...address, pid: child.pid ?? -1, stderr: () => printed, stop };
}

async function startOurs(): Promise<Server> {
  const gateway = await startGateway({ CONCURRENCY: '100000', NODE_OPTIONS: INSPECTABLE });
  const { authorization } = gateway.authorization;
  const port = Number(new URL(gateway.base).port);
  return { ...gateway, port, path: '/compat/v1/realtime', authorization };
}

class Load {
  readonly #child: ChildProcess = fork(scriptOf('realtime-load'));
  readonly #ended = new AbortController();

  constructor() {
    this.#child.once('exit', () => this.#ended.abort(new Error('the load has ended')));
  }

  async do(task: Task): Promise<Outcome> {
    this.#child.send(task);
    const [outcome] = (await once(this.#child, 'message', { signal: this.#ended.signal })) as [Outcome];
    return outcome;
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await once(this.#child, 'exit');
  }
}

/** Microseconds of CPU. */
interface Round {
  readonly ours: number;
  readonly echo: number;
  readonly ratio: number;
  readonly commit: number;
}

/** Microseconds of the server's CPU an append, with a commit a second a socket or without. */
async function cost(server: Server, load: Load, commit = false) {
  const before = cpuMs(server.pid);
  const outcome = await load.do({ run: { seconds: SECONDS, commit } });
  if (!('appends' in outcome)) throw new Error('nothing was appended');
  return { us: ((cpuMs(server.pid) - before) * 1000) / outcome.appends, ...outcome };
}

async function measureAppends(ours: Server, echo: Server): Promise<void> {
  const [load, echoLoad] = [new Load(), new Load()];
  try {
    await load.do({ open: { ...ours, sockets: SOCKETS } });
    await echoLoad.do({ open: { ...echo, sockets: SOCKETS } });
    const rounds: Round[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const appended = await cost(ours, load);
      const echoed = await cost(echo, echoLoad);
      const committed = await cost(ours, load, true);
      const commit = ((committed.us - appended.us) * committed.appends) / committed.commits;
      rounds.push({ ours: appended.us, echo: echoed.us, ratio: appended.us / echoed.us, commit });
    }
    const measured = rounds.slice(1);
    const of = (pick: (round: Round) => number) => median(measured.map(pick));
    row(
      `CPU an append, ${SOCKETS} sockets`,
      of(({ ours }) => ours),
      'µs',
    );
    row(
      'CPU an echo of the same bytes, bare',
      of(({ echo }) => echo),
      'µs',
    );
    row(
      'ratio',
      of(({ ratio }) => ratio),
      'x',
      '1.6, goal 1.25',
    );
    row(
      'CPU a commit of a second of audio, with its transcription',
      of(({ commit }) => commit),
      'µs',
    );
  } finally {
    await Promise.all([load.stop(), echoLoad.stop()]);
  }
}

/** Bytes a session between a tenth of the sessions and all of them. */
async function slope(server: Server): Promise<{ heap: number; resident: number }> {
  const load = new Load();
  const inspected = await Inspected.of(server.pid, server.stderr);
  try {
    const few = IDLE / 10;
    await load.do({ open: { ...server, sockets: few } });
    const before = await inspected.inUse();
    await load.do({ open: { ...server, sockets: IDLE } });
    const after = await inspected.inUse();
    const each = (name: 'heap' | 'resident') => (after[name] - before[name]) / (IDLE - few) / 1024;
    return { heap: each('heap'), resident: each('resident') };
  } finally {
    inspected.close();
    await load.stop();
  }
}

async function measureMemory(ours: Server, echo: Server): Promise<void> {
  const [own, bare] = [await slope(ours), await slope(echo)];
  row(`memory of an idle session, resident, ${IDLE / 10} to ${IDLE}`, own.resident, 'KiB');
  row('memory of a bare socket, resident', bare.resident, 'KiB');
  row('memory of a session beyond the bare socket, resident', own.resident - bare.resident, 'KiB', '12 KiB');
  row('memory of a session beyond the bare socket, in use', own.heap - bare.heap, 'KiB');
}

const echo = await startEcho();
const ours = await startOurs();
try {
  await measureAppends(ours, echo);
  await measureMemory(ours, echo);
} finally {
  await ours.stop();
  await echo.stop();
}
