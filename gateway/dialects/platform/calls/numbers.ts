/** The two numbers of a placed call: the workspace's, from which it is placed, and the one that is called. */
import { ServiceError } from '../../../../contracts/errors.js';
import {
  type CredentialNames,
  PHONE_CREDENTIALS,
  SHORT_NUMBER,
  type ShortNumbers,
  WRITTEN_ADDRESS,
  writtenAddress,
} from '../../../../contracts/phone/phone.js';
import { isPremium } from '../../../../contracts/phone/premium.js';
import type { PhoneNumber, PhoneNumbers } from '../../../../contracts/ports/phone/phone.js';
import type { PhoneDialling } from '../../../../contracts/ports/phone/placed-calls.js';
import { invalid, problem } from '../errors.js';

export interface CallNumberParts {
  readonly numbers: PhoneNumbers;
  readonly dialling: Pick<PhoneDialling, 'check'>;
  /** Short numbers that may be called. */
  readonly shortNumbers: ShortNumbers;
  /** Whether premium numbers are not called (`PHONE_PREMIUM`). */
  readonly refusesPremium: boolean;
}

/** What the request calls its members. */
export interface CallFields {
  readonly from: string;
  readonly to: string;
}

const unusable = (reason: string, message: string): ServiceError =>
  new ServiceError('conflict', { message, reason });

const refused = (reason: string, field: string, message: string): ServiceError =>
  invalid([problem([field], `${field} ${message}`)]).because(reason);

/** The workspace's number of that name. Errors: `validation_failed` (reason `number_not_found`). */
export async function numberNamed(
  from: string,
  { numbers }: CallNumberParts,
  workspaceId: string,
  { from: field }: CallFields,
): Promise<PhoneNumber> {
  const [number, another] = await numbers.named(from, workspaceId);
  if (!number) throw refused('number_not_found', field, 'is no phone number of this workspace');
  if (another) throw refused('number_not_found', field, 'is at several providers: use its phone_number_id');
  return number;
}

/**
 * Throws if no call can be placed from it. Errors: `conflict` (reasons `number_inactive`, `number_provider_unsupported`,
 * `number_termination_missing`), `overloaded`.
 */
export function checkNumber(number: PhoneNumber, { dialling }: CallNumberParts): void {
  const { places }: CredentialNames = PHONE_CREDENTIALS[number.provider];
  if (!number.enabled) throw unusable('number_inactive', 'The phone number is not enabled');
  if (places.length === 0)
    throw unusable('number_provider_unsupported', `Calls cannot be placed at ${number.provider}`);
  if (!number.placesCalls)
    throw unusable('number_termination_missing', 'The phone number has no credentials to place calls with');
  dialling.check(number);
}

const isShort = (to: string): boolean => SHORT_NUMBER.test(to.replaceAll(' ', ''));

/**
 * The address to call. Errors: `validation_failed` (reasons `destination_not_allowed` for short numbers that `PHONE_ALLOW_SHORT` does
 * not list, `destination_invalid`, `self_call_blocked`, `premium_destination_blocked`).
 */
export async function destinationOf(
  to: string,
  { numbers, shortNumbers, refusesPremium }: CallNumberParts,
  workspaceId: string,
  { to: field }: CallFields,
): Promise<string> {
  const address = writtenAddress(to, shortNumbers);
  if (address === undefined)
    throw refused(isShort(to) ? 'destination_not_allowed' : 'destination_invalid', field, WRITTEN_ADDRESS);
  if (refusesPremium && isPremium(address))
    throw refused(
      'premium_destination_blocked',
      field,
      'is a premium number, which this gateway does not call',
    );
  const [own] = await numbers.named(address, workspaceId);
  if (own) throw refused('self_call_blocked', field, 'is a number of this workspace');
  return address;
}
