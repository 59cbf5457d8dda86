/** Telephone providers, and numbers as all of them are written here. */
import { LIMITS } from '../limits.js';

export interface CredentialNames {
  /** Name of the credential that verifies its webhooks. */
  readonly verifies: string;
  /** Further credentials that its API needs; empty if calls cannot be placed at it. */
  readonly places: readonly string[];
}

/** The providers whose media streams are spoken, and the credentials of each. */
export const PHONE_CREDENTIALS = {
  twilio: { verifies: 'auth_token', places: ['account_sid'] },
  telnyx: { verifies: 'public_key', places: ['api_key', 'account_sid', 'application_sid'] },
  plivo: { verifies: 'auth_token', places: ['auth_id'] },
  vonage: { verifies: 'signature_secret', places: ['application_id', 'private_key'] },
  exotel: { verifies: 'basic_auth', places: [] },
  genesys: { verifies: 'client_secret', places: [] },
  // Any carrier or exchange, through LiveKit's SIP service: it has no webhooks, but addresses that its calls come from.
  sip: { verifies: 'allowed_addresses', places: ['server', 'username', 'password'] },
} as const satisfies Readonly<Record<string, CredentialNames>>;
export type PhoneProvider = keyof typeof PHONE_CREDENTIALS;
export const PHONE_PROVIDERS = Object.keys(PHONE_CREDENTIALS) as readonly PhoneProvider[];

/** Providers without an answer webhook: their settings hold the address of the media stream itself. */
export const STREAM_PROVIDERS: ReadonlySet<PhoneProvider> = new Set(['exotel', 'genesys']);

/** Providers whose verifying credential is public: that a signature fits it shows who sent a webhook, not whose the number is. */
export const PUBLIC_CREDENTIALS: ReadonlySet<PhoneProvider> = new Set(['telnyx', 'sip']);

/** Credentials with a format of their own. */
export const CREDENTIAL_FORMS: Readonly<Partial<Record<string, readonly [form: RegExp, as: string]>>> = {
  allowed_addresses: [
    /^[0-9a-f.:]+(\/\d{1,3})?(,\s*[0-9a-f.:]+(\/\d{1,3})?){0,31}$/i,
    'must be 1 to 32 IP addresses or networks (203.0.113.0/24), with commas between them',
  ],
  server: [
    /^[a-z0-9.-]{1,253}(:\d{1,5})?(;transport=(udp|tcp|tls))?$/i,
    'must be a host, with or without a port, and may end in ;transport=udp, tcp or tls',
  ],
  basic_auth: [/^[^:]+:.+$/, 'must be a user and a password, with a colon between them'],
  // Text that is not base64 would decode to an empty key, with which anybody can sign.
  client_secret: [/^[\w+/-]{22,}={0,2}$/, 'must be base64, of 16 bytes at least'],
};

/** How the carrier's SIP server is reached; `auto`: as it answers. */
export const SIP_TRANSPORTS = ['auto', 'udp', 'tcp', 'tls'] as const;

/** States of a number; ours are `active`, and `error` where another workspace gets its calls, or a server that has to know it does not. */
export const NUMBER_STATUSES = ['provisioning', 'active', 'error', 'released'] as const;

export const DIRECTIONS = ['inbound', 'outbound'] as const;
export type Direction = (typeof DIRECTIONS)[number];

export const ANSWERED_BY = ['human', 'machine', 'unknown'] as const;
export type AnsweredBy = (typeof ANSWERED_BY)[number];

/** How the dialling of a placed call came out, as sessions tell it; and who has answered it. */
export const DIAL_STATUSES = ['answered', 'busy', 'no_answer', 'failed'] as const;
export type DialStatus = (typeof DIAL_STATUSES)[number];
export const ANSWERERS = ['human', 'voicemail', 'unknown'] as const;
export type Answerer = (typeof ANSWERERS)[number];

export interface DialOutcome {
  /** Null while it rings, and for everything that is no placed call. */
  readonly dialStatus: DialStatus | null;
  /** Null unless it was answered. */
  readonly answeredBy: Answerer | null;
}

/** What to do when an answering machine picks up. */
export const VOICEMAIL_ACTIONS = ['hang_up', 'leave_message', 'leave_prompt_message', 'continue'] as const;

/** Those with a message: one that is said as it is, and one from which the language model makes it. */
export const MESSAGE_ACTIONS: ReadonlySet<string> = new Set(['leave_message', 'leave_prompt_message']);

/** The same in an agent’s configuration, in the described platform’s words. */
export const AGENT_VOICEMAIL_ACTIONS = ['hangup', 'leave_message', 'leave_prompt_message'] as const;

export interface Voicemail {
  readonly action: (typeof VOICEMAIL_ACTIONS)[number];
  /** The message to leave after the tone, or with `leave_prompt_message` what the language model is told. */
  readonly message?: string;
  /** With `leave_prompt_message`: what the model has written; empty if it has failed. */
  readonly text?: string;
  /** Language of the message: BCP 47, with a region. */
  readonly language?: string;
}

/** The telephone's side of a session. Withheld or unparseable numbers are null. */
export interface PhoneLeg {
  /** The person's, whoever rang. */
  readonly callerNumber: string | null;
  /** The workspace's. */
  readonly dialedNumber: string | null;
  readonly direction: Direction;
}

/** ITU-T E.164; some providers leave out the plus. Shorter numbers are extensions or services, longer ones are invalid. */
const NUMBER = /^\+?([1-9]\d{6,14})$/;
const SIP = /^sips?:[^\s@<>;?]+@[^\s@<>;?]+$/i;

/**
 * The number with its plus, or the SIP address in lower case without parameters; undefined for anything else,
 * such as `anonymous`.
 */
export function phoneAddress(text: string): string | undefined {
  const digits = NUMBER.exec(text)?.[1];
  if (digits !== undefined) return `+${digits}`;
  const [address = ''] = text.split(/[;?]/, 1);
  const fits = SIP.test(address) && address.length <= LIMITS.session.phoneNumber;
  return fits ? address.toLowerCase() : undefined;
}

/** Short numbers, such as those of emergency services, that this installation calls (`PHONE_ALLOW_SHORT`). */
export type ShortNumbers = ReadonlySet<string>;

/** Digits of a short number: fewer than the shortest in E.164 form has. */
export const SHORT_NUMBER = /^\d{2,6}$/;

/** Characters that people write between the digits of numbers. */
const SPELLING = /(?<=^[+\d][\d\s().-]*)[\s().-]/g;

/** The zero that Japan's numbers begin with at home, and people leave in after the country. */
const HOME_ZERO = /^(\+81)0(?=\d)/;

/** What `writtenAddress` takes, as a sentence of refusals says it. */
export const WRITTEN_ADDRESS = 'must be a number in E.164 form (+ and 7 to 15 digits), or a SIP address';

/**
 * A number as a client writes it, with any spacing but with its plus, or a SIP address, as `phoneAddress` writes them (and without
 * the zero of `HOME_ZERO`);
 * or one of `short` as it is. Undefined for anything else: without the plus nobody knows which country is meant.
 */
export function writtenAddress(text: string, short: ShortNumbers): string | undefined {
  if (text.length > LIMITS.session.phoneNumber) return undefined;
  const number = text.replace(SPELLING, '').replace(HOME_ZERO, '$1');
  if (short.has(number)) return number;
  return /^\d/.test(number) ? undefined : phoneAddress(number);
}

/** The same of an address that is stored already, since older ones may lack the plus. */
export const storedAddress = (text: string, short: ShortNumbers): string | undefined =>
  writtenAddress(text, short) ?? phoneAddress(text.replace(SPELLING, ''));

/** Whether an address of `phoneAddress` or `writtenAddress` is one of SIP. */
export const isSipAddress = (address: string): boolean => SIP.test(address);

/** Numbers that providers show for a withheld one: ANONYMOUS, BLOCKED, RESTRICTED, UNAVAILABLE and UNKNOWN as keys of a telephone. */
const WITHHELD: ReadonlySet<string> = new Set([
  '+266696687',
  '+2562533',
  '+7378742833',
  '+86282452253',
  '+8656696',
]);
/** How SIP writes it (RFC 3323, 4.1.1.3). */
const ANONYMOUS = /@anonymous\.invalid$/;

/** A caller's number; null if it is withheld or invalid. */
export function callerAddress(text: string): string | null {
  const address = phoneAddress(text);
  const isShown = address !== undefined && !WITHHELD.has(address) && !ANONYMOUS.test(address);
  return isShown ? address : null;
}
