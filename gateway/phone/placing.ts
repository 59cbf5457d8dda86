/**
 * Placed calls. The provider is asked once; from then on its callbacks (callbacks.ts) move the call, and a sweep ends calls
 * whose end nobody reports.
 *
 * Invariants: a call ends once, in its row; the process that ends it there hangs up at the provider and ends its session; a call
 * of a process that has died is not placed again, as it may already ring.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError, whyOf } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { LastCallState, PhoneProvider } from '../../contracts/phone/phone.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import type { Outbound } from '../../contracts/ports/outbound.js';
import type { DiallingNumbers, PhoneNumber } from '../../contracts/ports/phone/phone.js';
import type {
  OverdueCall,
  PhoneDialling,
  PlacedCall,
  PlacedCalls,
} from '../../contracts/ports/phone/placed-calls.js';
import type { EndedReason, SessionRuns } from '../../contracts/ports/sessions/sessions.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { Dialling, OutgoingCall, SpokenMessage } from './dialling.js';
import type { PhoneCalls } from './phone-calls.js';
import { type ApiFailure, askProvider } from './provider-api.js';
import type { SipDialling } from './sip/dialling.js';

export interface PlacingParts {
  readonly placed: PlacedCalls;
  readonly numbers: DiallingNumbers;
  readonly runs: Pick<SessionRuns, 'end' | 'refusal'>;
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly keeper?: Keeper;
  /** Undefined if this gateway carries no phone calls. */
  readonly calls: Pick<PhoneCalls, 'hasRoom'> | undefined;
  /** Undefined without livekit mode. */
  readonly sip?: Pick<SipDialling, 'dial' | 'hangUp'>;
  /** APIs of the providers at which calls are placed. */
  readonly dialling: Readonly<Partial<Record<PhoneProvider, Dialling>>>;
  readonly clock: Clock;
  readonly log: Log;
}

const SWEEP_MS = 5000;

/** The end of a session that waits for the call, by the call's end. */
const SESSION_ENDS: Readonly<Record<LastCallState, EndedReason>> = {
  busy: 'not_joined',
  no_answer: 'not_joined',
  failed: 'not_joined',
  voicemail: 'not_joined',
  ended: 'not_joined',
  cancelled: 'ended_by_api',
};

const UNDOCUMENTED: ApiFailure = { failure: 'The provider’s answer is not one that it documents' };
const NO_NUMBER = 'The phone number was removed';
const SILENT = 'The provider has not told what became of it';
const STOPPED = 'The gateway stopped while the call was placed';
const SESSION_ENDED = 'Its session was ended';

/** How an overdue call ends, from what is known of it. */
function endOf({ call, placed, sessionEnded }: OverdueCall): readonly [LastCallState, string?] {
  if (call.state === 'answered') return ['ended'];
  if (sessionEnded) return ['cancelled', SESSION_ENDED];
  return ['failed', placed ? SILENT : STOPPED];
}

function detectionOf({ voicemail }: PlacedCall): OutgoingCall['detection'] {
  if (voicemail === null) return 'none';
  return voicemail.action === 'leave_message' ? 'after_greeting' : 'at_once';
}

/** Addresses for the provider's callbacks about the call (index.ts). */
function urlsOf({ provider, id }: PlacedCall, baseUrl: string) {
  const url = `${baseUrl}/v1/phone/${provider}/calls/${id}`;
  return {
    ...{ answer: `${url}/answer`, message: `${url}/message` },
    ...{ status: `${url}/status`, machine: `${url}/machine` },
  };
}

/** The message for an answering machine. */
export const spokenOf = ({ voicemail }: PlacedCall): Pick<SpokenMessage, 'message' | 'language'> => ({
  message: voicemail?.message ?? '',
  language: voicemail?.language ?? '',
});

export class Placing implements PhoneDialling {
  readonly #running = new Set<Promise<void>>();
  readonly #stop: () => void;

  constructor(private readonly parts: PlacingParts) {
    const { clock, log } = parts;
    this.#stop = repeat(
      clock,
      SWEEP_MS,
      () => this.sweep(),
      (error) => log.warn(whyOf(error), 'could not sweep placed calls'),
    );
  }

  check({ provider }: Pick<PhoneNumber, 'provider'>): void {
    const { calls, sip } = this.parts;
    // The cluster decides whether a process has room.
    if (provider === 'sip' && sip) return;
    if (provider === 'sip')
      throw new ServiceError('conflict', { message: 'SIP needs the livekit transport' });
    if (!calls) throw new ServiceError('conflict', { message: 'Phone calls need the embedded transport' });
    if (!calls.hasRoom) throw new ServiceError('overloaded');
  }

  place(call: PlacedCall, baseUrl: string): void {
    this.#run(call, () => this.#place(call, baseUrl));
  }

  async cancel(call: PlacedCall): Promise<PlacedCall> {
    const { placed, runs } = this.parts;
    if (call.state === 'answered' && call.sessionId !== null) await runs.end(call.sessionId, 'ended_by_api');
    else if (await this.#finish(call.id, 'cancelled')) this.hangUp(call);
    return (await placed.find(call.id)) ?? call;
  }

  /** The provider reports that the call has ended. */
  async ended(call: PlacedCall, state: LastCallState, reason?: string): Promise<void> {
    await this.#finish(call.id, state, reason);
  }

  /** A machine has answered: ends the call and its conversation. */
  async giveUp(call: PlacedCall): Promise<void> {
    if (!(await this.#finish(call.id, 'ended'))) return;
    this.hangUp(call);
    if (call.sessionId !== null) await this.parts.runs.end(call.sessionId, 'hangup');
  }

  /** Says the message in place of the conversation, which ends with its stream. If that fails, ends the call. */
  leaveMessage(call: PlacedCall, baseUrl: string): void {
    const { callId } = call;
    if (callId === null) return;
    const said = { callId, ...spokenOf(call), url: urlsOf(call, baseUrl).message };
    this.#run(call, async () => {
      const answer = await this.#ask(call, (dialling, credentials) => dialling.say(said, credentials));
      if ('failure' in answer) await this.giveUp(call);
    });
  }

  /** Hangs up at the provider, if its id of the call is known; does not wait for the answer. */
  hangUp(call: PlacedCall): void {
    this.#run(call, async () => {
      const current = (await this.parts.placed.find(call.id)) ?? call;
      const { callId } = current;
      if (call.provider === 'sip') return this.parts.sip?.hangUp(call);
      if (callId === null) return;
      const answer = await this.#ask(current, (dialling, credentials) =>
        dialling.hangUp(callId, credentials),
      );
      if ('failure' in answer)
        this.parts.log.warn({ call: call.id }, 'a call was not hung up by its provider');
    });
  }

  async sweep(): Promise<void> {
    const { placed } = this.parts;
    for (const each of await placed.overdue()) {
      const { call } = each;
      if (call.sessionId === null) await placed.drop(call.id);
      else if (await this.#finish(call.id, ...endOf(each))) this.hangUp(call);
    }
  }

  /** Stops the sweep and waits for running requests to the provider. */
  async stop(): Promise<void> {
    this.#stop();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Calls through the SIP service, whose answer reports what became of the call. */
  async #dial(call: PlacedCall): Promise<void> {
    const { placed, numbers, sip } = this.parts;
    const number = call.numberId === null ? undefined : await numbers.open(call.numberId);
    const callId = call.sessionId ?? '';
    if (!number || !sip) return void (await this.#finish(call.id, 'failed', NO_NUMBER));
    await placed.placed(call.id, callId);
    const refusal = await sip.dial(call, number, () =>
      this.#run(call, async () => void (await placed.report(call.id, { callId, state: 'ringing' }))),
    );
    if (refusal) await this.#finish(call.id, refusal.state, refusal.reason);
    else if ((await placed.report(call.id, { callId, state: 'answered' }))?.endedAt) this.hangUp(call);
  }

  async #place(call: PlacedCall, baseUrl: string): Promise<void> {
    if (call.provider === 'sip') return this.#dial(call);
    const { placed } = this.parts;
    const { from, to, maxRingSeconds: ringSeconds } = call;
    const urls = urlsOf(call, baseUrl);
    const detection = detectionOf(call);
    const answer = await this.#ask(call, (dialling, credentials) =>
      dialling.place({ from, to, ringSeconds, urls, detection }, credentials),
    );
    const taken =
      'failure' in answer
        ? answer
        : (this.parts.dialling[call.provider]?.taken(answer.fields) ?? UNDOCUMENTED);
    if ('failure' in taken) return void (await this.#finish(call.id, 'failed', taken.failure));
    const current = await placed.placed(call.id, taken.callId);
    // It was cancelled, or its session ended, while the provider was asked.
    if (current?.endedAt) this.hangUp(current);
  }

  async #ask(
    { numberId, provider }: PlacedCall,
    ask: (dialling: Dialling, credentials: Readonly<Record<string, string>>) => ReturnType<Dialling['place']>,
  ) {
    const { numbers, dialling: all } = this.parts;
    const number = numberId === null ? undefined : await numbers.open(numberId);
    const dialling = all[provider];
    if (!number || !dialling) return { failure: NO_NUMBER };
    return askProvider(number, dialling, (credentials) => ask(dialling, credentials), this.parts);
  }

  /** Ends the call; true if it had not ended before. A session that still waits for it ends, too. */
  async #finish(id: string, state: LastCallState, reason?: string): Promise<boolean> {
    const { placed, runs, log } = this.parts;
    const call = await placed.finish(id, state, reason);
    if (!call) return false;
    log.info(
      { call: id, provider: call.provider, workspaceId: call.workspaceId, state: call.state },
      'placed call over',
    );
    const { sessionId } = call;
    const waits = sessionId !== null && (await runs.refusal(sessionId)) === undefined;
    if (waits) await runs.end(sessionId, SESSION_ENDS[state]);
    return true;
  }

  /** Never rejects: the sweep finds calls whose work failed here. */
  #run({ id: call }: PlacedCall, work: () => Promise<void>): void {
    const { log } = this.parts;
    const running = work()
      .catch((error: unknown) => log.error({ err: error, call }, 'a placed call failed'))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
