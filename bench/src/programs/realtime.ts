/**
 * Realtime sockets of OpenAI's dialect: each appends 20 ms of 24 kHz audio fifty times a second, each at its own moment
 * within the 20 ms, and commits once a second where that is asked for.
 */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Outcome } from '../generator/protocol.js';
import { NOTHING, type Program, timed } from './program.js';
import { openSocket, type SocketAddress, textFrame } from './web-socket-frames.js';

export interface AppendTask {
  readonly seconds: number;
  /** Appends a second of each socket. */
  readonly rate: number;
  /** Whether each socket commits after a second of audio. */
  readonly commits: boolean;
}

export type RealtimeTask =
  | { readonly open: SocketAddress & { readonly sockets: number } }
  | { readonly append: AppendTask };

export const APPENDS_A_SECOND = 50;
const RATE = 24_000;
const HANDSHAKES_AT_ONCE = 32;
const QUIET_MS = 300;
const SHED_MS = 500;

const audio = Buffer.alloc((RATE / APPENDS_A_SECOND) * 2).toString('base64');
const APPEND = textFrame({ type: 'input_audio_buffer.append', audio });
const COMMIT = textFrame({ type: 'input_audio_buffer.commit' });
const CLEAR = textFrame({ type: 'input_audio_buffer.clear' });
const COMMITTED = Buffer.from('input_audio_buffer.committed');

class OpenedSocket {
  /** When the commit that has not been answered was sent. */
  #asked: number | undefined;
  readonly answers: number[] = [];
  received = 0;
  isLost = false;

  constructor(private readonly socket: Socket) {
    socket.removeAllListeners('close').removeAllListeners('error');
    socket.on('error', () => {}).on('close', () => (this.isLost = true));
    socket.on('data', (bytes: Buffer) => this.#hear(bytes));
  }

  append(): void {
    this.socket.write(APPEND);
  }

  commit(): void {
    this.#asked = performance.now();
    this.socket.write(COMMIT);
  }

  clear(): void {
    this.socket.write(CLEAR);
  }

  /** Whether a commit is still without an answer, which is forgotten. */
  takeUnanswered(): boolean {
    const was = this.#asked !== undefined;
    this.#asked = undefined;
    return was;
  }

  #hear(bytes: Buffer): void {
    this.received += bytes.length;
    if (this.#asked === undefined || !bytes.includes(COMMITTED)) return;
    this.answers.push(performance.now() - this.#asked);
    this.#asked = undefined;
  }
}

export class RealtimeSockets implements Program {
  readonly #sockets: OpenedSocket[] = [];

  run(params: unknown): Promise<Outcome> {
    const task = params as RealtimeTask;
    return 'open' in task ? this.#open(task.open) : this.#append(task.append);
  }

  /** Until there are so many. A server that sheds load is asked again; other refusals are thrown. */
  async #open({ sockets, ...address }: SocketAddress & { readonly sockets: number }): Promise<Outcome> {
    const times: number[] = [];
    const { seconds, cpu } = await timed(async () => {
      for (let shed = 0; this.#sockets.length < sockets;) {
        const batch = Math.min(HANDSHAKES_AT_ONCE, sockets - this.#sockets.length);
        const refused = (
          await Promise.all(Array.from({ length: batch }, () => this.#openOne(address, times)))
        ).filter((error) => error !== undefined);
        const [first] = refused;
        if (first === undefined) continue;
        if ((shed += refused.length) > sockets) throw first;
        await pause(SHED_MS);
      }
      await this.#quiet();
    });
    const readings = { open: Float64Array.from(times) };
    return { ...NOTHING, due: new Float64Array(times.length), readings, seconds, cpu };
  }

  async #openOne(address: SocketAddress, times: number[]): Promise<Error | undefined> {
    const begun = performance.now();
    try {
      this.#sockets.push(new OpenedSocket(await openSocket(address)));
      times.push(performance.now() - begun);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  /** Until the server has nothing more to say. */
  async #quiet(): Promise<void> {
    const received = (): number => this.#sockets.reduce((sum, socket) => sum + socket.received, 0);
    for (let before = -1; before !== received();) {
      before = received();
      await pause(QUIET_MS);
    }
  }

  async #append({ seconds, rate, commits }: AppendTask): Promise<Outcome> {
    const total = seconds * rate * this.#sockets.length;
    const { result: lateness, ...spent } = await timed(() => this.#appendAll(total, rate, commits));
    if (!commits) for (const socket of this.#sockets) socket.clear();
    await this.#quiet();
    const unanswered = this.#sockets.filter((socket) => socket.takeUnanswered()).length;
    const lost = this.#sockets.filter(({ isLost }) => isLost).length;
    const failures = {
      ...(unanswered > 0 && { 'commit without an answer': unanswered }),
      ...(lost > 0 && { 'socket lost': lost }),
    };
    const answers = this.#sockets.flatMap((socket) => socket.answers.splice(0));
    const commit = [...answers, ...Array<number>(unanswered).fill(Number.NaN)];
    return {
      due: new Float64Array(total),
      lateness: Float64Array.from(lateness),
      readings: { commit: Float64Array.from(commit) },
      failures,
      ...spent,
    };
  }

  /** How late the latest append of each turn of the loop was. */
  async #appendAll(total: number, rate: number, commits: boolean): Promise<number[]> {
    const lateness: number[] = [];
    const count = this.#sockets.length;
    const each = 1000 / (rate * count);
    const beginning = performance.now();
    for (let sent = 0; sent < total; await pause(1)) {
      const due = Math.min(total, (performance.now() - beginning) / each);
      lateness.push(Math.max(0, performance.now() - beginning - sent * each));
      for (; sent < due; sent += 1) {
        const index = sent % count;
        this.#sockets[index]?.append();
        if (commits && (Math.floor(sent / count) + index) % APPENDS_A_SECOND === APPENDS_A_SECOND - 1)
          this.#sockets[index]?.commit();
      }
    }
    return lateness;
  }
}
