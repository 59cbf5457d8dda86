/**
 * Transfers of phone calls: the provider connects whom the agent speaks with to somebody else, in the place of the media
 * stream, which ends the agent's part of the call. What becomes of it from then on is the provider's.
 */
import { type PhoneProvider, phoneAddress } from '../../contracts/phone.js';
import type { Outbound } from '../../contracts/ports/outbound.js';
import type { DiallingNumbers, OpenedNumber, PhoneNumbers } from '../../contracts/ports/phone.js';
import type { SessionRecord } from '../../contracts/ports/sessions.js';
import type { Dialling } from './dialling.js';
import { askProvider } from './provider-api.js';

export interface TransferParts {
  readonly numbers: Pick<PhoneNumbers, 'named'> & DiallingNumbers;
  /** Of the providers whose API is asked. */
  readonly dialling: Readonly<Partial<Record<PhoneProvider, Dialling>>>;
  readonly outbound: Pick<Outbound, 'fetch'>;
}

/** A call as its provider knows it. */
export interface Leg {
  readonly provider: PhoneProvider;
  readonly callId: string;
}

/** Connects the call to a number or SIP address. Why it does not come about, as a text for the model; undefined where it has. */
export type Transfer = (to: string) => Promise<string | undefined>;

type Called = Pick<SessionRecord, 'workspaceId' | 'direction' | 'callerNumber' | 'dialedNumber'>;

/** As people write numbers, between their digits. */
const SPELLING = /(?<=^[+\d][\d\s().-]*)[\s().-]/g;

/** As people write it, to a number or SIP address; undefined for what is neither. */
export const destinationOf = (wanted: string): string | undefined =>
  phoneAddress(wanted.replace(SPELLING, ''));

const NO_NUMBER = 'The destination is no phone number';
const NO_CREDENTIALS = 'The phone number has no credentials for the API of its provider';

/** Our side of the call. */
const ownOf = ({ direction, callerNumber, dialedNumber }: Called): string =>
  (direction === 'outbound' ? callerNumber : dialedNumber) ?? '';

async function openedFor(
  { workspaceId, ...called }: Called,
  { provider }: Leg,
  numbers: TransferParts['numbers'],
): Promise<OpenedNumber | undefined> {
  const named = await numbers.named(ownOf({ workspaceId, ...called }), workspaceId);
  const number = named.find((each) => each.provider === provider && each.placesCalls);
  return number && numbers.open(number.id);
}

/** Undefined where the provider has no API that is spoken here. */
export function transferOf(leg: Leg, called: Called, parts: TransferParts): Transfer | undefined {
  const dialling = parts.dialling[leg.provider];
  const connect = dialling?.connect;
  if (!connect) return undefined;
  // Whom we have called would otherwise be shown as calling themselves.
  const from = called.direction === 'outbound' ? ownOf(called) : undefined;
  return async (wanted) => {
    const to = destinationOf(wanted);
    if (to === undefined) return NO_NUMBER;
    const number = await openedFor(called, leg, parts.numbers);
    if (!number) return NO_CREDENTIALS;
    const answer = await askProvider(
      number,
      dialling,
      (credentials) => connect(leg.callId, { to, from }, credentials),
      parts.outbound,
    );
    return 'failure' in answer ? answer.failure : undefined;
  };
}
