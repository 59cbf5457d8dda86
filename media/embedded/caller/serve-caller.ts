/**
 * Simulated callers of tests by voice: the worker's side, one job per caller (contracts/ports/agents/test-callers.ts). A caller joins
 * like any client, with signalling frames that the gateway forwards.
 *
 * Invariants: a caller ends when its call has, when its reports are not read, and when its job is cancelled; it ends once and
 * leaves nothing running.
 */
import { randomInt } from 'node:crypto';
import { ParticipantInfo_State } from '@livekit/protocol';
import { bytesOf } from '../../../contracts/audio.js';
import type { JobHandlers, JobValue } from '../../../contracts/ports/jobs.js';
import { AsyncQueue } from '../../async-queue.js';
import type { Beat, Pacer } from '../../pacer.js';
import { readPacket } from '../data.js';
import type { ServerSignal } from '../signal.js';
import { CallerReceiver } from './caller-receiver.js';
import { CallerPeer } from './caller-peer.js';
import { joinQuery, leaveFrame, readResponse, trickleFrame } from './caller-signal.js';
import { CallerVoice, FRAME_MS } from './caller-voice.js';
import { CALLER_JOB, type CallerArgs, type CallerCommand, type CallerReport } from './wire.js';

/** Most unread bytes of audio; a gateway that has not read more than half a minute counts as gone. */
const MOST_WAITING_BYTES = 1024 * 1024;
const MOST_SSRC = 0x7fffffff;

type On<Case extends ServerSignal['case']> = Extract<ServerSignal, { readonly case: Case }>;

class Caller {
  readonly reports = new AsyncQueue<CallerReport>((report) =>
    report.on === 'heard' ? report.pcm.length : 0,
  );
  readonly #ssrc = randomInt(1, MOST_SSRC);
  readonly #peer: CallerPeer;
  readonly #voice: CallerVoice;
  readonly #receiver: CallerReceiver;
  readonly #leavePacer: () => void;
  /** Own candidates that have not been sent yet. */
  #candidates: string[] = [];
  #sid = '';
  #isActive = false;
  /** Beats since its media connected. */
  #beats: number | undefined;
  #state = '';
  #reason = '';
  #closed = false;

  constructor({ noise }: CallerArgs, pacer: Pacer) {
    this.#voice = new CallerVoice(
      this.#ssrc,
      noise,
      (packet) => this.#peer.speak(packet),
      (said) => this.reports.push({ on: 'said', ...said }),
    );
    this.#receiver = new CallerReceiver((at, samples) => this.#received(at, samples));
    this.#peer = new CallerPeer(this.#ssrc, {
      gathered: (offer, candidates) => {
        this.#candidates = [...candidates];
        this.reports.push({ on: 'join', query: joinQuery(offer) });
      },
      packet: (bytes) => this.#guarded(() => this.#receiver.packet(bytes)),
      message: (bytes) => this.#guarded(() => this.#read(bytes)),
    });
    this.#leavePacer = pacer.join(
      (beat) => this.#beat(beat),
      () => this.close(),
    );
  }

  /** For callbacks of native libraries, where an uncaught error ends the worker. */
  #guarded(run: () => void): void {
    try {
      if (!this.#closed) run();
    } catch {
      this.close();
    }
  }

  #received(at: number, samples: Int16Array): void {
    this.reports.push({ on: 'heard', at, pcm: bytesOf(samples) });
    if (this.reports.bytes > MOST_WAITING_BYTES) this.close();
  }

  #beat({ skipped }: Beat): void {
    if (this.#beats === undefined) {
      if (!this.#isActive || !this.#peer.isOpen) return;
      this.#beats = 0;
      this.reports.push({ on: 'connected' });
    } else this.#beats += 1 + skipped;
    this.#receiver.beat(this.#beats, 1 + skipped);
    this.#voice.beat(this.#beats * FRAME_MS, skipped);
  }

  #read(bytes: Uint8Array): void {
    const { value } = readPacket(bytes) ?? {};
    if (value?.case !== 'user') return;
    const { type, reason } = JSON.parse(Buffer.from(value.value.payload).toString()) as Record<
      string,
      unknown
    >;
    if (type === 'session.ended') this.#reason = String(reason);
  }

  take(command: CallerCommand): void {
    if (this.#closed) return;
    if (command.op === 'say') this.#voice.say(command.utterance, command.at, command.pcm, command.last);
    else if (command.op === 'signal') this.#told(readResponse(command.frame));
    else if (command.op === 'hangUp') this.reports.push({ on: 'signal', frame: leaveFrame() });
    else this.close();
  }

  readonly #handlers: {
    readonly [Case in NonNullable<ServerSignal['case']>]?: (message: On<Case>) => void;
  } = {
    join: ({ value }) => (this.#sid = value.participant?.sid ?? ''),
    answer: ({ value }) => {
      this.#peer.accept(value.sdp);
      for (const candidate of this.#candidates.splice(0))
        this.reports.push({ on: 'signal', frame: trickleFrame(candidate) });
    },
    trickle: ({ value }) => {
      const { candidate = '', sdpMid } = JSON.parse(value.candidateInit) as Record<string, string>;
      if (candidate !== '') this.#peer.addCandidate(candidate, sdpMid);
    },
    update: ({ value }) => {
      for (const { sid, state, attributes } of value.participants) {
        if (sid === this.#sid && state === ParticipantInfo_State.ACTIVE) this.#isActive = true;
        this.#tellState(attributes['lk.agent.state']);
      }
    },
    leave: () => this.close(),
  };

  #told(message: ServerSignal | undefined): void {
    if (message?.case === undefined) return;
    const handle = this.#handlers[message.case] as ((message: ServerSignal) => void) | undefined;
    handle?.(message);
  }

  #tellState(state: string | undefined): void {
    if (state === undefined || state === this.#state) return;
    this.#state = state;
    this.reports.push({ on: 'agent', state });
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leavePacer();
    this.#peer.close();
    this.#voice.close();
    this.#receiver.close();
    this.reports.push({ on: 'ended', reason: this.#reason });
    this.reports.end();
  }
}

async function follow(commands: AsyncIterable<JobValue>, caller: Caller): Promise<void> {
  try {
    for await (const command of commands) caller.take(command as CallerCommand);
  } finally {
    caller.close();
  }
}

export const callerJobs = (pacer: Pacer): JobHandlers => ({
  async *[CALLER_JOB](args: CallerArgs, commands, { signal }): AsyncGenerator<CallerReport> {
    const caller = new Caller(args, pacer);
    const stop = (): void => caller.close();
    signal.addEventListener('abort', stop, { once: true });
    follow(commands, caller).catch(() => undefined);
    try {
      yield* caller.reports;
    } finally {
      signal.removeEventListener('abort', stop);
      caller.close();
    }
  },
});
