/**
 * Transfers of phone calls (ops/adr/0043-transfers.md): callers are connected to people. In a cold one, the provider dials in
 * place of the media stream. In a warm one, we call the colleague, who is briefed about the caller (consultation.ts), and the
 * provider joins both calls. What a report does is decided by a table (contracts/phone/transfer-states.ts).
 *
 * Invariants: a session has one transfer at a time, which ends once, in its row; the process that ends it there performs the
 * effects of the report.
 */
import type { Clock } from '../../../contracts/clock.js';
import { whyOf } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import {
  type PhoneProvider,
  type ShortNumbers,
  storedAddress,
  WRITTEN_ADDRESS,
} from '../../../contracts/phone/phone.js';
import type { Keeper } from '../../../contracts/ports/parts.js';
import type { Outbound } from '../../../contracts/ports/outbound.js';
import type {
  Credentials,
  DiallingNumbers,
  OpenedNumber,
  PhoneNumbers,
} from '../../../contracts/ports/phone/phone.js';
import type { NewTransfer, OverdueTransfer, Transfers } from '../../../contracts/ports/phone/transfers.js';
import type { SessionRecord, SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import { repeat } from '../../../contracts/time/repeat.js';
import {
  isDecided,
  isLast,
  isOpen,
  type LastTransferState,
  nextOfTransfer,
  TRANSFER_MODES,
  type TransferEffect,
  type TransferMode,
  type TransferReport,
} from '../../../contracts/phone/transfer-states.js';
import type { Transfer } from '../../../contracts/phone/transfers.js';
import type { PhoneTransfer, TransferRequest } from '../conversations/tools/tool.js';
import type { Metrics } from '../../server/system/metrics.js';
import type { ApiRequest, Dialling } from './dialling.js';
import { type ApiFailure, askProvider } from './provider-api.js';
import type { Leg, SessionCall } from './streamed-call.js';
import { legOf, urlsOf } from './transfer-urls.js';

export interface TransferringParts {
  readonly transfers: Transfers;
  readonly numbers: Pick<PhoneNumbers, 'named'> & DiallingNumbers;
  readonly runs: Pick<SessionRuns, 'end'>;
  /** APIs of the providers. */
  readonly dialling: Readonly<Partial<Record<PhoneProvider, Dialling>>>;
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly keeper?: Keeper;
  /** Whether callers hear a sound while they wait. */
  readonly holdSound: boolean;
  readonly shortNumbers: ShortNumbers;
  readonly clock: Clock;
  readonly log: Log;
}

export type Called = Pick<SessionRecord, 'id' | 'workspaceId' | 'dialedNumber'>;

/** A transfer that is about to begin. */
interface Wanted extends TransferRequest {
  readonly leg: Leg;
  readonly called: Called;
  readonly line: Pick<SessionCall, 'media' | 'move'>;
}

interface Ready extends Wanted {
  readonly number: OpenedNumber;
  readonly dialling: Dialling;
}

/** As the model is told, and the record of the tool's call says. */
export const NO_NUMBER = `The destination is no phone number that can be called: it ${WRITTEN_ADDRESS}`;
const NO_CREDENTIALS = 'The phone number has no credentials for the API of its provider';
export const UNDER_WAY = 'The call is being transferred already';
const SILENT = 'The provider has not told what became of it';
const SESSION_ENDED = 'The session was ended';
export const HUNG_UP = 'The caller hung up';
const UNDOCUMENTED = 'The provider’s answer is not one that it documents';

const SWEEP_MS = 5000;
const { transferRing, apiMs, consultMs, reportMs } = LIMITS.phone;

/** Longest duration of a transfer: ringing, the briefing of a colleague, and the provider's report of the outcome. */
const DUE_MS: Readonly<Record<TransferMode, number>> = {
  cold: transferRing * 1000 + reportMs,
  warm: apiMs + transferRing * 1000 + consultMs + reportMs,
};

/** Longer than any transfer lasts. */
const FORGET_MS = 2 * Math.max(...Object.values(DUE_MS));

const WHY: Readonly<Partial<Record<Transfer['state'], string>>> = {
  busy: 'The line is busy',
  no_answer: 'Nobody answered',
  refused: 'The colleague does not take the call',
  voicemail: 'An answering machine answered',
  failed: 'The call failed',
  cancelled: 'The transfer was given up',
};

/** Why nobody was connected, as a text for the model. */
export const whyNot = ({ label, to, state, reason }: Transfer): string =>
  `${WHY[state] ?? state} (${label === '' ? to : label})${reason === null ? '' : `: ${reason}`}. The caller is with you again.`;

/** What is known beside the report. */
export interface Told {
  /** Why, if the state does not tell. */
  readonly reason?: string | undefined;
  /** The colleague's call, as the provider knows it. Default: as the row has it. */
  readonly callId?: string;
}

type Perform = (transfer: Transfer, told: Told, transferring: Transferring) => unknown;

const EFFECTS: Readonly<Record<TransferEffect, Perform>> = {
  end_session_as_transferred: ({ sessionId }, _, { parts }) => parts.runs.end(sessionId, 'transferred'),
  end_session_as_hangup: ({ sessionId }, _, { parts }) => parts.runs.end(sessionId, 'hangup'),
  hang_up_caller: (transfer, _, { hangUp }) => hangUp(transfer, transfer.callerCallId),
  hang_up_colleague: (transfer, { callId = transfer.callId }, { hangUp }) => hangUp(transfer, callId),
  bring_back: ({ id }, _, { parts }) => parts.transfers.bringBack(id),
};

/** Our side of the call. */
export const ownOf = ({ dialedNumber }: Called): string => dialedNumber ?? '';

export class Transferring {
  readonly #counts: Record<string, number> = {};
  readonly #running = new Set<Promise<unknown>>();
  /** When each began that this process has begun, on the monotonic clock, the oldest first. */
  readonly #began = new Map<string, number>();
  readonly #stop: () => void;

  constructor(readonly parts: TransferringParts) {
    const { clock, log } = parts;
    this.#stop = repeat(
      clock,
      SWEEP_MS,
      () => this.sweep(),
      (error) => log.warn(whyOf(error), 'could not sweep transfers'),
    );
  }

  /** The number or SIP address that is meant; undefined if it can be none. */
  destinationOf(wanted: string): string | undefined {
    return storedAddress(wanted, this.parts.shortNumbers);
  }

  /** Transfers of a call; undefined if its provider supports none. */
  of(leg: Leg, called: Called, line: Wanted['line']): PhoneTransfer | undefined {
    const dialling = this.parts.dialling[leg.provider];
    if (!dialling) return undefined;
    return {
      modes: TRANSFER_MODES,
      begin: async (request) => {
        const to = this.destinationOf(request.to);
        if (to === undefined) return NO_NUMBER;
        const number = await this.#opened(called, leg);
        if (!number) return NO_CREDENTIALS;
        return this.#begin({ ...request, to, leg, called, line, number, dialling });
      },
    };
  }

  async #opened(called: Called, { provider }: Leg): Promise<OpenedNumber | undefined> {
    const { numbers } = this.parts;
    const named = await numbers.named(ownOf(called), called.workspaceId);
    const number = named.find((each) => each.provider === provider && each.placesCalls);
    return number && numbers.open(number.id);
  }

  async #begin(ready: Ready): Promise<string | undefined> {
    const { toolCallId, label, to, mode, briefing, leg, called, number } = ready;
    const row: NewTransfer = {
      sessionId: called.id,
      numberId: number.number.id,
      provider: leg.provider,
      callerCallId: leg.callId,
      toolCallId,
      mode,
      label,
      to,
      briefing,
      dueMs: DUE_MS[mode],
    };
    const transfer = await this.parts.transfers.begin(row);
    if (!transfer) return UNDER_WAY;
    this.#note(transfer.id);
    try {
      return await (mode === 'cold' ? this.#cold(transfer, ready) : this.#warm(transfer, ready));
    } catch (error) {
      await this.report(transfer, 'failed');
      throw error;
    }
  }

  /** Once the provider has taken the call, its callbacks report the rest (transfer-callbacks.ts). */
  async #cold(transfer: Transfer, { leg, line }: Ready): Promise<string | undefined> {
    const asked = this.ask(transfer, (dialling, credentials) =>
      dialling.connect(leg.callId, legOf(transfer, leg.baseUrl), credentials),
    );
    await line.move(asked.then(isDone), 'connecting');
    const answer = await asked;
    return 'failure' in answer ? this.#failed(transfer, answer.failure) : undefined;
  }

  async #warm(transfer: Transfer, ready: Ready): Promise<string | undefined> {
    const { line, signal } = ready;
    if (this.parts.holdSound) line.media.hold(true);
    try {
      const failure = await this.#call(transfer, ready);
      if (failure !== undefined) return await this.#failed(transfer, failure);
      const known = await this.#decided(transfer.id, signal);
      if (known?.state === 'accepted' && !signal.aborted) return await this.#join(known, ready);
      if (known && !isOpen(known)) return whyNot(known);
      await this.report(transfer, 'hung_up', { reason: HUNG_UP });
      return HUNG_UP;
    } finally {
      line.media.hold(false);
    }
  }

  /** Calls the colleague. Resolves to the reason of a failure, otherwise to undefined. */
  async #call(transfer: Transfer, { leg, called, to, dialling }: Ready): Promise<string | undefined> {
    const { answer, status, machine } = urlsOf(transfer, leg.baseUrl);
    const call = { from: ownOf(called), to, ringSeconds: transferRing, urls: { answer, status, machine } };
    const placed = await this.ask(transfer, (_, credentials) =>
      dialling.place({ ...call, detection: 'at_once' }, credentials),
    );
    if ('failure' in placed) return placed.failure;
    const taken = dialling.taken(placed.fields);
    if (!taken) return UNDOCUMENTED;
    await this.parts.transfers.report(transfer.id, { callId: taken.callId });
    return undefined;
  }

  /** Resolves when the colleague has accepted the call, the transfer has ended, or nobody waits any more. */
  async #decided(id: string, signal: AbortSignal): Promise<Transfer | undefined> {
    const { transfers } = this.parts;
    for (;;) {
      let wake = (): void => undefined;
      const changed = new Promise<void>((resolve) => (wake = resolve));
      const leave = transfers.onChange(id, wake);
      signal.addEventListener('abort', wake, { once: true });
      try {
        const transfer = await transfers.find(id);
        if (signal.aborted || !transfer || isDecided(transfer)) return transfer;
        await changed;
      } finally {
        leave();
        signal.removeEventListener('abort', wake);
      }
    }
  }

  /** Puts both calls into one conference at the provider, which ends when either does. */
  async #join(transfer: Transfer, { leg, line }: Ready): Promise<string | undefined> {
    const colleague = await this.#intoRoom(transfer, transfer.callId ?? '', leg);
    if ('failure' in colleague) return this.#failed(transfer, colleague.failure);
    // If the colleague has hung up meanwhile, the caller must not wait in the room.
    const current = await this.parts.transfers.find(transfer.id);
    if (current && !isOpen(current)) return whyNot(current);
    const caller = this.#intoRoom(transfer, leg.callId, leg);
    const moved = caller.then(
      async (answer) => isDone(answer) && !!(await this.report(transfer, 'connected')),
    );
    await line.move(moved, 'transferred');
    const answer = await caller;
    if ('failure' in answer) return this.#failed(transfer, answer.failure);
    if (await moved) return undefined;
    // The transfer ended at that moment, together with the session.
    await this.report({ ...transfer, state: 'cancelled' }, 'connected');
    return SESSION_ENDED;
  }

  #intoRoom(transfer: Transfer, callId: string, { baseUrl }: Leg) {
    const room = { name: transfer.id, url: urlsOf(transfer, baseUrl).document };
    return this.ask(transfer, (dialling, credentials) => dialling.join(callId, room, credentials));
  }

  async #failed(transfer: Transfer, reason: string): Promise<string> {
    await this.report(transfer, 'failed', { reason });
    return reason;
  }

  /**
   * Does what follows from a report about a transfer as it was read: ends it in its row, if that has not happened meanwhile, and
   * performs the effects. Resolves to the transfer if this has ended it.
   */
  async report(transfer: Transfer, report: TransferReport, told: Told = {}): Promise<Transfer | undefined> {
    const step = nextOfTransfer(transfer, report);
    const ended = isLast(step?.to) ? await this.finish(transfer.id, step.to, told.reason) : undefined;
    if (!step || (step.to && !ended)) return undefined;
    for (const effect of step.effects) await EFFECTS[effect](ended ?? transfer, told, this);
    return ended;
  }

  /** Ends it in its row; undefined if it had ended already. */
  async finish(id: string, state: LastTransferState, reason?: string): Promise<Transfer | undefined> {
    const transfer = await this.parts.transfers.finish(id, state, reason);
    if (!transfer) return undefined;
    const { sessionId, workspaceId, provider, mode } = transfer;
    const ms = this.#lasted(transfer);
    const key = `${mode} ${state}`;
    this.#counts[key] = (this.#counts[key] ?? 0) + 1;
    this.parts.log.info(
      { transfer: id, sessionId, workspaceId, provider, mode, state, ms },
      'phone transfer over',
    );
    return transfer;
  }

  /** Forgets those that another process has ended. */
  #note(id: string): void {
    const now = this.parts.clock.monotonic();
    for (const [other, began] of this.#began) {
      if (now - began < FORGET_MS) break;
      this.#began.delete(other);
    }
    this.#began.set(id, now);
  }

  /** Milliseconds; by its times of day if another process has begun it. */
  #lasted({ id, createdAt, endedAt }: Transfer): number {
    const began = this.#began.get(id);
    this.#began.delete(id);
    if (began !== undefined) return Math.round(this.parts.clock.monotonic() - began);
    return Math.max(0, (endedAt?.getTime() ?? 0) - createdAt.getTime());
  }

  /** Hangs up at the provider, if its id of the call is known; does not wait for the answer. */
  readonly hangUp = (transfer: Transfer, callId: string | null): void => {
    if (callId === null) return;
    const running = this.ask(transfer, (dialling, credentials) => dialling.hangUp(callId, credentials))
      .then((answer) => {
        const { id } = transfer;
        if ('failure' in answer) this.parts.log.info({ transfer: id }, 'a call could not be hung up');
      })
      .catch((error: unknown) => this.parts.log.error({ err: error }, 'a call was not hung up'))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  };

  /** Asks the API of the number's provider. */
  async ask(
    { numberId, provider }: Pick<Transfer, 'numberId' | 'provider'>,
    ask: (dialling: Dialling, credentials: Credentials) => ApiRequest,
  ): Promise<Awaited<ReturnType<typeof askProvider>>> {
    const { numbers, dialling: all } = this.parts;
    const number = numberId === null ? undefined : await numbers.open(numberId);
    const dialling = all[provider];
    if (!number || !dialling) return { failure: 'The phone number was removed' } satisfies ApiFailure;
    return askProvider(number, dialling, (credentials) => ask(dialling, credentials), this.parts);
  }

  async sweep(): Promise<void> {
    for (const each of await this.parts.transfers.overdue()) await this.#settle(each);
  }

  async #settle({ transfer, sessionEnded }: OverdueTransfer): Promise<void> {
    const reason = sessionEnded && transfer.mode === 'cold' ? SESSION_ENDED : SILENT;
    await this.report(transfer, sessionEnded ? 'session_ended' : 'silent', { reason });
  }

  addMetrics(metrics: Metrics): void {
    const help = 'Transfers of phone calls that are over, by mode and how they ended';
    const rows = () =>
      Object.entries(this.#counts).map(([key, value]) => {
        const [mode = '', state = ''] = key.split(' ');
        return { labels: { mode, state }, value };
      });
    metrics.counter('phone_transfers', help, rows, ['mode', 'state']);
  }

  /** Stops the sweep and waits for running requests to the provider. */
  async stop(): Promise<void> {
    this.#stop();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

const isDone = (answer: object): boolean => !('failure' in answer);
