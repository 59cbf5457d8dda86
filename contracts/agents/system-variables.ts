/**
 * System variables (docs/contract/platform.md 6.16): `{{system.name}}` in prompts and in the requests of webhook tools. The gateway fills
 * them, never a request, once when the session is created, and alike for all agents that take its call over.
 */
import type { PhoneLeg } from '../phone/phone.js';
import { zoneFormats } from '../time/zone-formats.js';

export const SYSTEM_NAMES = [
  'channel',
  'timezone',
  'today',
  'language',
  'caller_number',
  'dialed_number',
] as const;
type SystemName = (typeof SYSTEM_NAMES)[number];

/** Values by the names of their placeholders. */
export type SystemVariables = Readonly<Record<`system.${SystemName}`, string>>;

/** `valueOf` each name without its prefix. */
export const systemVariables = (valueOf: (name: SystemName) => string): SystemVariables =>
  Object.fromEntries(SYSTEM_NAMES.map((name) => [`system.${name}`, valueOf(name)])) as SystemVariables;

export interface SystemValues {
  /** Undefined for a session that is no phone call. */
  readonly leg: PhoneLeg | undefined;
  /** Whether it is a chat. */
  readonly inWriting?: boolean | undefined;
  readonly timezone: string;
  readonly language: string;
  readonly now: Date;
}

const IN_WRITING = 'web_text';

/** Whether these are of a chat. */
export const isInWriting = (values: SystemVariables | undefined): boolean =>
  values?.['system.channel'] === IN_WRITING;

const E164 = /^\+[1-9]\d{6,14}$/;

const numeral = (address: string | null = ''): string =>
  address !== null && E164.test(address) ? address : '';

const dayFormat = zoneFormats('en', { year: 'numeric', month: '2-digit', day: '2-digit' });

/** `YYYY-MM-DD` there, in any language. */
function dayOf(now: Date, timeZone: string): string {
  const parts = new Map(
    dayFormat(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
}

const VALUES: Readonly<Record<SystemName, (values: SystemValues) => string>> = {
  channel: ({ leg, inWriting }) => (leg ? `phone_${leg.direction}` : inWriting ? IN_WRITING : 'web_voice'),
  timezone: ({ timezone }) => timezone,
  today: ({ now, timezone }) => dayOf(now, timezone),
  language: ({ language }) => language,
  caller_number: ({ leg }) => numeral(leg?.callerNumber),
  dialed_number: ({ leg }) => numeral(leg?.dialedNumber),
};

export const systemVariablesOf = (values: SystemValues): SystemVariables =>
  systemVariables((name) => VALUES[name](values));

const PLACEHOLDER = /\{\{\s{0,8}system\.([^{}]{0,64}?)\s{0,8}\}\}/g;

const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);

/** Why a text cannot be saved, as the end of a sentence; undefined if it can. Names that it had `before` stay. */
export function unknownSystemName(text: string, before = ''): string | undefined {
  const known = new Set<string>([...SYSTEM_NAMES, ...namesIn(before)]);
  const unknown = namesIn(text).find((name) => !known.has(name));
  return unknown === undefined
    ? undefined
    : `uses {{system.${unknown}}}; system has ${SYSTEM_NAMES.join(', ')}`;
}
