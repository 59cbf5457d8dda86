/** Telephone providers, and numbers as all of them are written here. */
import { LIMITS } from './limits.js';

/** The providers whose media streams are spoken, and what each one's webhooks are verified with. */
export const PHONE_CREDENTIALS = { twilio: 'auth_token', telnyx: 'public_key', plivo: 'auth_token' } as const;
export type PhoneProvider = keyof typeof PHONE_CREDENTIALS;
export const PHONE_PROVIDERS = Object.keys(PHONE_CREDENTIALS) as readonly PhoneProvider[];

export const DIRECTIONS = ['inbound', 'outbound'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** A call as its session knows it. A number that is withheld, or none, is null. */
export interface PhoneLeg {
  readonly callerNumber: string | null;
  readonly dialedNumber: string | null;
  readonly direction: Direction;
}

/** ITU-T E.164; some providers leave the plus out. Shorter ones are extensions and services, longer ones no numbers. */
const NUMBER = /^\+?([1-9]\d{6,14})$/;
const SIP = /^sips?:[^\s@<>;?]+@[^\s@<>;?]+$/i;

/**
 * The number with its plus, or the SIP address in small letters and without parameters; undefined for what is neither,
 * such as `anonymous`.
 */
export function phoneAddress(text: string): string | undefined {
  const digits = NUMBER.exec(text)?.[1];
  if (digits !== undefined) return `+${digits}`;
  const [address = ''] = text.split(/[;?]/, 1);
  const fits = SIP.test(address) && address.length <= LIMITS.session.phoneNumber;
  return fits ? address.toLowerCase() : undefined;
}
