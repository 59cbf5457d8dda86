/** Simulated callers whose media runs in a worker: the gateway's side, which forwards their signalling. */
import { bytesOf, PLAYOUT_RATE, samplesOf } from '../../../contracts/audio.js';
import type { SignalConnect, SignalEnd, SignalLink } from '../../../contracts/ports/calls/calls.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { JobOwner, JobRunner } from '../../../contracts/ports/jobs.js';
import { UNBOUNDED_SHARE } from '../../../contracts/ports/accounts/memory.js';
import type {
  CallerEvent,
  CallerLine,
  CallerLines,
  CallerOptions,
} from '../../../contracts/ports/agents/test-callers.js';
import { ownerOf } from '../../../processes/job-owner.js';
import { AsyncQueue } from '../../async-queue.js';
import { CALLER_JOB, type CallerArgs, type CallerCommand, type CallerReport } from './wire.js';

/** Speech of one command: a second. */
const PIECE = PLAYOUT_RATE;

type Connect = (how: SignalConnect, link: SignalLink) => SignalEnd | undefined;

class WorkerLine implements CallerLine {
  readonly events: AsyncIterable<CallerEvent>;
  readonly #commands = new AsyncQueue<CallerCommand>();
  readonly #abort = new AbortController();
  #end: SignalEnd | undefined;
  #utterance = 0;

  constructor(
    media: JobRunner,
    { noise, workspaceId }: CallerOptions,
    private readonly connect: Connect,
  ) {
    this.events = this.#follow(media, { noise }, ownerOf({ workspaceId }));
  }

  say(samples: Int16Array, at = 0): number {
    const utterance = ++this.#utterance;
    for (let from = 0; from < samples.length; from += PIECE) {
      const pcm = bytesOf(samples.slice(from, from + PIECE));
      this.#commands.push({ op: 'say', utterance, at, pcm, last: from + PIECE >= samples.length });
    }
    return utterance;
  }

  hangUp(): void {
    this.#commands.push({ op: 'hangUp' });
  }

  async *#follow(media: JobRunner, args: CallerArgs, owner: JobOwner): AsyncGenerator<CallerEvent> {
    const { signal } = this.#abort;
    try {
      for await (const report of media.runJob(CALLER_JOB, args, { input: this.#commands, signal, owner })) {
        const event = this.#eventOf(report as CallerReport);
        if (event) yield event;
      }
    } finally {
      this.#commands.end();
      this.#end?.closed();
      this.#abort.abort();
    }
  }

  #eventOf(report: CallerReport): CallerEvent | undefined {
    switch (report.on) {
      case 'join':
        this.#join(new URLSearchParams(report.query));
        return undefined;
      case 'signal':
        this.#end?.receive(report.frame);
        return undefined;
      case 'heard':
        return { kind: 'heard', at: report.at, samples: samplesOf(report.pcm) };
      case 'said':
        return { kind: 'said', utterance: report.utterance, from: report.from, to: report.to };
      case 'agent':
        return { kind: 'agent', state: report.state };
      case 'ended':
        return { kind: 'ended', reason: report.reason };
      case 'connected':
        return { kind: 'connected' };
    }
  }

  /** Joins as a client from this machine, so that its private and loopback candidates are accepted. */
  #join(query: URLSearchParams): void {
    const link: SignalLink = {
      memory: UNBOUNDED_SHARE,
      send: (frame) => void this.#commands.push({ op: 'signal', frame }),
      close: () => void this.#commands.push({ op: 'closed' }),
    };
    this.#end = this.connect({ version: 1, query, from: '127.0.0.1' }, link);
    if (!this.#end) throw new ServiceError('transport_failed', { message: 'The call is over' });
  }
}

/** `media`: the pool of media workers. */
export const createCallerLines = (media: JobRunner): CallerLines => ({
  openLine: (options, connect) => new WorkerLine(media, options, connect),
});
