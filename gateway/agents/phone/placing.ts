/**
 * Placed calls. The provider is asked once; from then on its callbacks (callbacks.ts) move the call, and a sweep ends calls
 * whose end nobody reports. What a report does is decided by a table (contracts/phone/placed-states.ts).
 *
 * Invariants: a call ends once, in its row; the process that ends it there performs the effects of the report; a call of a process
 * that has died is not placed again, as it may already ring.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError, whyOf } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import { MESSAGE_ACTIONS, type PhoneProvider } from '../../../contracts/phone/phone.js';
import {
  isLastCallState,
  type LastCallState,
  nextOfCall,
  type PlacedEffect,
  type PlacedReport,
  WAITING_SESSION_ENDS,
} from '../../../contracts/phone/placed-states.js';
import type { Keeper } from '../../../contracts/ports/parts.js';
import type { Outbound } from '../../../contracts/ports/outbound.js';
import type { DiallingNumbers, PhoneNumber } from '../../../contracts/ports/phone/phone.js';
import type {
  OverdueCall,
  PhoneDialling,
  PlacedCall,
  PlacedCalls,
} from '../../../contracts/ports/phone/placed-calls.js';
import type { SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import { repeat } from '../../../contracts/time/repeat.js';
import type { Dialling, OutgoingCall, SpokenMessage } from './dialling.js';
import type { Messages } from './messages.js';
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
  readonly messages: Pick<Messages, 'begin' | 'of' | 'settled'>;
  readonly clock: Clock;
  readonly log: Log;
}

const SWEEP_MS = 5000;

const UNDOCUMENTED: ApiFailure = { failure: 'The provider’s answer is not one that it documents' };
const NO_NUMBER = 'The phone number was removed';
const SILENT = 'The provider has not told what became of it';
const STOPPED = 'The gateway stopped while the call was placed';
const UNWRITTEN = 'The language model wrote no message';
const SESSION_ENDED = 'Its session was ended';

const unsupported = (message: string): ServiceError =>
  new ServiceError('conflict', { message, reason: 'number_provider_unsupported' });

/** Why an overdue call ends, if its state does not tell. */
function reasonOf({ call, placed, sessionEnded }: OverdueCall): string | undefined {
  if (call.state === 'answered') return undefined;
  if (sessionEnded) return SESSION_ENDED;
  return placed ? SILENT : STOPPED;
}

/** What follows from a report; `call` as it is then. */
const EFFECTS: Readonly<Record<PlacedEffect, (call: PlacedCall, placing: Placing) => unknown>> = {
  end_waiting_session: ({ sessionId, state }, { parts }) => endWaiting(sessionId, state, parts),
  hang_up: (call, placing) => placing.hangUp(call),
  end_session_as_hangup: ({ sessionId }, { parts }) =>
    sessionId !== null && parts.runs.end(sessionId, 'hangup'),
  end_session_by_api: ({ sessionId }, { parts }) =>
    sessionId !== null && parts.runs.end(sessionId, 'ended_by_api'),
};

async function endWaiting(
  sessionId: string | null,
  state: PlacedCall['state'],
  { runs }: PlacingParts,
): Promise<void> {
  const waits = sessionId !== null && (await runs.refusal(sessionId)) === undefined;
  if (waits && isLastCallState(state)) await runs.end(sessionId, WAITING_SESSION_ENDS[state]);
}

function detectionOf({ voicemail }: PlacedCall): OutgoingCall['detection'] {
  if (voicemail === null) return 'none';
  return MESSAGE_ACTIONS.has(voicemail.action) ? 'after_greeting' : 'at_once';
}

/** Addresses for the provider's callbacks about the call (index.ts). */
function urlsOf({ provider, id }: PlacedCall, baseUrl: string) {
  const url = `${baseUrl}/v1/phone/${provider}/calls/${id}`;
  return {
    answer: `${url}/answer`,
    message: `${url}/message`,
    status: `${url}/status`,
    machine: `${url}/machine`,
  };
}

/** The message for an answering machine. */
export const spokenOf = ({ voicemail }: PlacedCall): Pick<SpokenMessage, 'message' | 'language'> => ({
  message: voicemail?.text ?? voicemail?.message ?? '',
  language: voicemail?.language ?? '',
});

export class Placing implements PhoneDialling {
  readonly #running = new Set<Promise<void>>();
  readonly #stop: () => void;

  constructor(readonly parts: PlacingParts) {
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
    if (provider === 'sip') throw unsupported('SIP needs the livekit transport');
    if (!calls) throw unsupported('Phone calls need the embedded transport');
    if (!calls.hasRoom) throw new ServiceError('overloaded');
  }

  place(call: PlacedCall, baseUrl: string): void {
    this.#run(call, () => this.#place(call, baseUrl));
  }

  async cancel(call: PlacedCall): Promise<PlacedCall> {
    await this.report(call, 'stopped');
    return (await this.parts.placed.find(call.id)) ?? call;
  }

  /**
   * Does what follows from a report about a call as it was read: ends it in its row, if that has not happened meanwhile, and performs
   * the effects.
   */
  async report(call: PlacedCall, report: PlacedReport, reason?: string): Promise<void> {
    const step = nextOfCall(call.state, report);
    const ended = isLastCallState(step?.to) ? await this.#finish(call.id, step.to, reason) : undefined;
    if (!step || (step.to && !ended)) return;
    for (const effect of step.effects) await EFFECTS[effect](ended ?? call, this);
  }

  /** Somebody has answered; its session is still to be joined. */
  answered(call: PlacedCall): Promise<void> {
    return this.parts.messages.begin(call);
  }

  /** Says the message in place of the conversation, which ends with its stream. If that fails, ends the call. */
  leaveMessage(call: PlacedCall, baseUrl: string): void {
    const { callId } = call;
    if (callId === null) return;
    this.#run(call, async () => {
      const spoken = await this.parts.messages.of(call);
      if (!spoken) return this.report(call, 'machine', UNWRITTEN);
      const said = { callId, ...spokenOf(spoken), url: urlsOf(call, baseUrl).message };
      const answer = await this.#ask(call, (dialling, credentials) => dialling.say(said, credentials));
      if ('failure' in answer) await this.report(call, 'machine');
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
    await placed.tellLate();
    for (const each of await placed.overdue()) {
      const { call, sessionEnded } = each;
      if (call.sessionId === null) await placed.drop(call.id);
      else await this.report(call, sessionEnded ? 'session_ended' : 'silent', reasonOf(each));
    }
  }

  /** Stops the sweep and waits for running requests to the provider and the language model. */
  async stop(): Promise<void> {
    this.#stop();
    await this.parts.messages.settled();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Calls through the SIP service, whose answer reports what became of the call. */
  async #dial(call: PlacedCall): Promise<void> {
    const { placed, numbers, sip } = this.parts;
    const number = call.numberId === null ? undefined : await numbers.open(call.numberId);
    const callId = call.sessionId ?? '';
    if (!number || !sip) return this.report(call, 'failed', NO_NUMBER);
    await placed.placed(call.id, callId);
    const refusal = await sip.dial(call, number, () =>
      this.#run(call, async () => void (await placed.report(call.id, { callId, state: 'ringing' }))),
    );
    if (refusal) return this.report(call, refusal.state, refusal.reason);
    const answered = await placed.report(call.id, { callId, state: 'answered' });
    if (answered) await this.report(answered, 'taken');
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
    if ('failure' in taken) return this.report(call, 'failed', taken.failure);
    const current = await placed.placed(call.id, taken.callId);
    if (current) await this.report(current, 'taken');
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

  /** Ends the call in its row; undefined if it had ended before. */
  async #finish(id: string, state: LastCallState, reason?: string): Promise<PlacedCall | undefined> {
    const { placed, log } = this.parts;
    const call = await placed.finish(id, state, reason);
    if (call)
      log.info(
        { call: id, provider: call.provider, workspaceId: call.workspaceId, state: call.state },
        'placed call over',
      );
    return call;
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
