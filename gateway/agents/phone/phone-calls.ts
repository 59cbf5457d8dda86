/**
 * Phone calls of this process: each begins when a provider's media stream spends its token, and ends with the stream, as no
 * provider reopens one. The exception is a caller whom the provider connects to somebody else: if nobody answers, the caller
 * comes back, to any process, with a new stream and token.
 */
import { ServiceError } from '../../../contracts/errors.js';
import {
  IDENTITIES,
  type LineFormat,
  type PhoneCall,
  type PhoneLink,
  type PhoneMedia,
  type PhoneOptions,
} from '../../../contracts/ports/calls/calls.js';
import type {
  RunningSession,
  SessionItem,
  SessionRecord,
} from '../../../contracts/ports/sessions/sessions.js';
import { isOpen } from '../../../contracts/phone/transfer-states.js';
import type { Transfer } from '../../../contracts/phone/transfers.js';
import { type Carrier, carrying } from '../calls/carriers.js';
import { refusedFor } from '../calls/joining.js';
import { type CallParts, OwnedCall } from '../calls/owned-call.js';
import { CallRegistry, type RegisteredCall } from '../calls/registry.js';
import { pause } from '../conversations/record.js';
import { withAgentInCharge } from '../conversations/recovery.js';
import { Consultation } from './consultation.js';
import { type Leg, SessionCall, type Streamed } from './streamed-call.js';
import { type Transferring, whyNot } from './transferring.js';

export interface PhoneCallsParts extends CallParts {
  readonly calls: PhoneMedia;
  /** Whether this process may take another call of any kind. */
  readonly hasRoom: () => boolean;
  /** Whether another process may. */
  readonly elsewhere: () => boolean;
  readonly transferring: Transferring;
}

/** Interval and longest time of waiting for the caller's previous process, which writes its record to the end first. */
const LOOK_MS = 200;
const LET_GO_MS = 10_000;

/** The record so far, with the tool's answer replaced by the reason why nobody was connected. */
const amended = (said: readonly SessionItem[], { toolCallId }: Transfer, error: string): SessionItem[] =>
  said.map((item) =>
    item.type === 'tool_result' && item.callId === toolCallId
      ? { ...item, status: 'failed', output: '', error }
      : item,
  );

export class PhoneCalls {
  readonly #registry: CallRegistry<RegisteredCall>;
  /** Callers are not answered any more. */
  #refuses = false;
  /** Nor do calls begin that were answered. */
  #stopped = false;

  constructor(private readonly parts: PhoneCallsParts) {
    this.#registry = new CallRegistry(parts);
  }

  /** Calls that have not ended. */
  get size(): number {
    return this.#registry.all.length;
  }

  /** Whether a call may begin here, or elsewhere: its provider opens the stream at whatever process the balancer chooses. */
  get hasRoomSomewhere(): boolean {
    return this.hasRoom || this.parts.elsewhere();
  }

  /** Whether a caller who is answered may get a call here. */
  get hasRoom(): boolean {
    return !this.#refuses && this.#takes;
  }

  get #takes(): boolean {
    return !this.#stopped && this.parts.held.holds && this.parts.hasRoom();
  }

  /**
   * Begins the call of a token: that of a session that waits for its stream, of one whose caller comes back, or of a
   * colleague. Errors: `overloaded`, `invalid_key`.
   */
  async begin(id: string, format: LineFormat, link: PhoneLink, leg: Leg): Promise<Streamed> {
    if (!this.#takes) throw new ServiceError('overloaded');
    const transfer = await this.parts.transferring.parts.transfers.find(id);
    if (transfer?.mode === 'warm') return this.#consult(transfer, format, link);
    const session = transfer ? await this.#returned(transfer) : await this.#joined(id);
    return this.#open(session, format, link, leg);
  }

  async #joined(sessionId: string): Promise<RunningSession> {
    const session = await this.parts.runs.join(sessionId);
    if ('refused' in session) throw refusedFor(session.refused);
    return session;
  }

  /** Brings the caller back, once. The tool's answer becomes the reason why nobody was connected. */
  async #returned({ id }: Transfer): Promise<RunningSession> {
    const { transferring, agents } = this.parts;
    const { transfers } = transferring.parts;
    const transfer = await transfers.bringBack(id);
    if (!transfer) throw refusedFor('used');
    const session = await this.#taken(transfer.sessionId);
    const error = whyNot(transfer);
    await transfers.amend(transfer, error);
    const said = amended(session.said ?? [], transfer, error);
    return withAgentInCharge({ ...session, said, returned: true }, agents);
  }

  /** Takes the session over once the caller's previous process has released it. */
  async #taken(sessionId: string): Promise<RunningSession> {
    const { runs, clock } = this.parts;
    await this.#registry.find(sessionId)?.over;
    const end = clock.monotonic() + LET_GO_MS;
    for (;;) {
      const taken = await runs.takeOver(sessionId);
      if ('record' in taken) return taken;
      if ('refused' in taken) throw refusedFor(taken.refused);
      if (clock.monotonic() >= end) throw refusedFor('used');
      await pause(clock, LOOK_MS);
    }
  }

  #open(session: RunningSession, format: LineFormat, link: PhoneLink, leg: Leg): Streamed {
    const { record, plan, part } = session;
    const media = this.#media(record, record.agentName, format, link, {
      record: plan.recordAudio,
      ...(part !== undefined && { part }),
    });
    const call = new SessionCall(media, record.workspaceId);
    const transfer = this.parts.transferring.of(leg, record, call);
    const line = { press: (keys: string) => media.press(keys), ...(transfer && { transfer }) };
    const carrier: Carrier = { ...carrying('phone', record, this.parts.runs), line };
    const owned = new OwnedCall(media, session, this.parts, carrier);
    call.begin(owned);
    this.#registry.add(owned);
    return call;
  }

  #consult(transfer: Transfer, format: LineFormat, link: PhoneLink): Streamed {
    const { transferring, clock, log, speech, transcription } = this.parts;
    const { briefing, id } = transfer;
    if (!isOpen(transfer) || briefing === null || this.#registry.find(id)) throw refusedFor('used');
    const media = this.#media(transfer, transfer.label, format, link, { record: false });
    const { transfers } = transferring.parts;
    const parts = { transfers, transferring, speech, transcription, clock, log };
    const consultation = new Consultation(media, transfer, briefing, parts);
    this.#registry.add(consultation);
    return consultation;
  }

  #media(
    { id: sessionId, workspaceId }: Pick<SessionRecord, 'id' | 'workspaceId'>,
    agentName: string,
    format: LineFormat,
    link: PhoneLink,
    recording: Pick<PhoneOptions, 'record' | 'part'>,
  ): PhoneCall {
    const user = { identity: IDENTITIES.user, name: '' };
    const agent = { identity: IDENTITIES.agent, name: agentName };
    return this.parts.calls.openPhoneCall(
      { sessionId, workspaceId, user, agent, format, ...recording },
      link,
    );
  }

  /**
   * Answers callers until `refuses` resolves, as providers ask whatever process the balancer still sends them to; their calls, whose
   * streams come later, begin here as long as others last. Ends those left after `until`.
   */
  async stop(until: Promise<unknown>, refuses: Promise<unknown>): Promise<void> {
    void Promise.race([until, refuses]).then(() => (this.#refuses = true));
    await this.#registry.stop(until, refuses);
    this.#stopped = true;
  }
}
