/**
 * Transfers of phone calls (ops/adr/0045-transfers.md): callers are connected to people. In a cold one, the provider dials in
 * place of the media stream. In a warm one, we call the colleague, who is briefed about the caller (consultation.ts), and the
 * provider joins both calls.
 *
 * Invariants: a session has one transfer at a time, which ends once, in its row; the process that ends it there hangs up its
 * remaining calls.
 */
import type { Clock } from '../../contracts/clock.js';
import { whyOf } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import { type PhoneProvider, phoneAddress } from '../../contracts/phone/phone.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import type { Outbound } from '../../contracts/ports/outbound.js';
import type {
  Credentials,
  DiallingNumbers,
  OpenedNumber,
  PhoneNumbers,
} from '../../contracts/ports/phone/phone.js';
import type { NewTransfer, OverdueTransfer, Transfers } from '../../contracts/ports/phone/transfers.js';
import type { SessionRecord, SessionRuns } from '../../contracts/ports/sessions/sessions.js';
import { repeat } from '../../contracts/time/repeat.js';
import {
  type LastTransferState,
  type Transfer,
  TRANSFER_MODES,
  type TransferMode,
} from '../../contracts/phone/transfers.js';
import type { PhoneTransfer, TransferRequest } from '../conversations/tools/tool.js';
import type { Metrics } from '../server/system/metrics.js';
import type { ApiRequest, DialledLeg, Dialling } from './dialling.js';
import { type ApiFailure, askProvider } from './provider-api.js';
import type { Leg, SessionCall } from './streamed-call.js';

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
  readonly clock: Clock;
  readonly log: Log;
}

export type Called = Pick<
  SessionRecord,
  'id' | 'workspaceId' | 'direction' | 'callerNumber' | 'dialedNumber'
>;

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

/** Characters that people write between the digits of numbers. */
const SPELLING = /(?<=^[+\d][\d\s().-]*)[\s().-]/g;

/** Turns what people write into a number or SIP address; undefined if it is neither. */
export const destinationOf = (wanted: string): string | undefined =>
  phoneAddress(wanted.replace(SPELLING, ''));

export const NO_NUMBER = 'The destination is no phone number';
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

/** Our side of the call. */
export const ownOf = ({ direction, callerNumber, dialedNumber }: Called): string =>
  (direction === 'outbound' ? callerNumber : dialedNumber) ?? '';

export class Transferring {
  readonly #counts: Record<string, number> = {};
  readonly #running = new Set<Promise<unknown>>();
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

  /** Transfers of a call; undefined if its provider supports none. */
  of(leg: Leg, called: Called, line: Wanted['line']): PhoneTransfer | undefined {
    const dialling = this.parts.dialling[leg.provider];
    if (!dialling) return undefined;
    return {
      modes: TRANSFER_MODES,
      begin: async (request) => {
        const to = destinationOf(request.to);
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
      ...{ sessionId: called.id, numberId: number.number.id, provider: leg.provider },
      ...{ callerCallId: leg.callId, toolCallId, mode, label, to, briefing, dueMs: DUE_MS[mode] },
    };
    const transfer = await this.parts.transfers.begin(row);
    if (!transfer) return UNDER_WAY;
    try {
      return await (mode === 'cold' ? this.#cold(transfer, ready) : this.#warm(transfer, ready));
    } catch (error) {
      await this.#giveUp(transfer, 'failed');
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
      if (known?.endedAt) return whyNot(known);
      return await this.#cancel(transfer, HUNG_UP);
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
        if (signal.aborted || !transfer || transfer.endedAt || transfer.state === 'accepted') return transfer;
        await changed;
      } finally {
        leave();
        signal.removeEventListener('abort', wake);
      }
    }
  }

  /** Puts both calls into one conference at the provider, which ends when either does. */
  async #join(transfer: Transfer, { leg, line }: Ready): Promise<string | undefined> {
    const { id, callId } = transfer;
    const colleague = await this.#intoRoom(transfer, callId ?? '', leg);
    if ('failure' in colleague) return this.#failed(transfer, colleague.failure);
    // If the colleague has hung up meanwhile, the caller must not wait in the room.
    const current = await this.parts.transfers.find(id);
    if (current?.endedAt) return whyNot(current);
    const caller = this.#intoRoom(transfer, leg.callId, leg);
    const moved = caller.then(async (answer) => isDone(answer) && !!(await this.finish(id, 'connected')));
    await line.move(moved, 'transferred');
    const answer = await caller;
    if ('failure' in answer) return this.#failed(transfer, answer.failure);
    if (await moved) return undefined;
    // The transfer ended at that moment, together with the session.
    for (const each of [leg.callId, callId]) this.hangUp(transfer, each);
    return SESSION_ENDED;
  }

  #intoRoom(transfer: Transfer, callId: string, { baseUrl }: Leg) {
    const room = { name: transfer.id, url: urlsOf(transfer, baseUrl).document };
    return this.ask(transfer, (dialling, credentials) => dialling.join(callId, room, credentials));
  }

  async #failed(transfer: Transfer, reason: string): Promise<string> {
    await this.#giveUp(transfer, 'failed', reason);
    return reason;
  }

  async #cancel(transfer: Transfer, reason: string): Promise<string> {
    await this.#giveUp(transfer, 'cancelled', reason);
    return reason;
  }

  /** Ends the transfer, and with it the colleague's call. */
  async #giveUp({ id }: Transfer, state: LastTransferState, reason?: string): Promise<void> {
    const transfer = await this.finish(id, state, reason);
    if (transfer?.mode === 'warm') this.hangUp(transfer, transfer.callId);
  }

  /** The provider or the colleague reports that it failed. */
  async end(transfer: Transfer, state: LastTransferState, reason?: string): Promise<void> {
    await this.#giveUp(transfer, state, reason);
  }

  /** Undefined if it had ended already. */
  async finish(id: string, state: LastTransferState, reason?: string): Promise<Transfer | undefined> {
    const transfer = await this.parts.transfers.finish(id, state, reason);
    if (!transfer) return undefined;
    const { sessionId, workspaceId, provider, mode, createdAt, endedAt } = transfer;
    const ms = Math.max(0, (endedAt?.getTime() ?? 0) - createdAt.getTime());
    const key = `${mode} ${state}`;
    this.#counts[key] = (this.#counts[key] ?? 0) + 1;
    this.parts.log.info(
      { transfer: id, sessionId, workspaceId, provider, mode, state, ms },
      'phone transfer over',
    );
    return transfer;
  }

  /** Hangs up at the provider, if its id of the call is known; does not wait for the answer. */
  hangUp(transfer: Transfer, callId: string | null): void {
    if (callId === null) return;
    const running = this.ask(transfer, (dialling, credentials) => dialling.hangUp(callId, credentials))
      .then((answer) => {
        const { id } = transfer;
        if ('failure' in answer) this.parts.log.info({ transfer: id }, 'a call could not be hung up');
      })
      .catch((error: unknown) => this.parts.log.error({ err: error }, 'a call was not hung up'))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

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
    const { id, mode, provider, sessionId, callerCallId } = transfer;
    if (provider === 'sip') return this.#settleReferred(transfer, sessionEnded);
    if (mode === 'warm') return this.#giveUp(transfer, sessionEnded ? 'cancelled' : 'failed', SILENT);
    if (sessionEnded) {
      if (await this.finish(id, 'cancelled', SESSION_ENDED)) this.hangUp(transfer, callerCallId);
      return;
    }
    // The provider returns unanswered callers while it rings, so these two must be talking.
    if (await this.finish(id, 'connected', SILENT)) await this.parts.runs.end(sessionId, 'transferred');
  }

  /** Ends a transfer by SIP whose process died while the caller's side was asked: a caller who is still there is with the agent. */
  async #settleReferred({ id }: Transfer, sessionEnded: boolean): Promise<void> {
    if (sessionEnded) await this.finish(id, 'cancelled', SESSION_ENDED);
    else if (await this.finish(id, 'failed', SILENT)) await this.parts.transfers.bringBack(id);
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

/** Addresses for the provider's callbacks about the transfer (index.ts). */
function urlsOf({ id, provider }: Transfer, baseUrl: string) {
  const url = `${baseUrl}/v1/phone/${provider}/transfers/${id}`;
  return {
    answer: `${url}/answer`,
    status: `${url}/status`,
    machine: `${url}/machine`,
    action: `${url}/action`,
    document: `${url}/document`,
  };
}

/** The leg that a cold transfer dials. */
export function legOf(transfer: Transfer, baseUrl: string): DialledLeg {
  const { to, shown } = transfer;
  const { status, action, document } = urlsOf(transfer, baseUrl);
  return { to, from: shown ?? undefined, ringSeconds: transferRing, urls: { status, action, document } };
}
