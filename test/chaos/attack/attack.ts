/** What an attack is, and what several of them send. */
import type { Target } from './target.js';
import type { Told } from './told.js';

export interface Attack {
  /** `X1 twilio`; the first word is the row of the review. */
  readonly name: string;
  /** Whether the short form has it. */
  readonly short?: true;
  /** Answers and closes that may be told to an attacker. */
  readonly allowed: readonly (number | string)[];
  /** Processor seconds that the gateway's process may use, at full size. */
  readonly seconds: number;
  /** How many lawful requests at once are compared with it. */
  readonly atOnce: number;
  run(target: Target, told: Told, size: number): Promise<void>;
}

export const KiB = 1024;
export const MiB = KiB * KiB;
export const REST_MS = 3000;
export const sized = (number: number, size: number): number => Math.max(1, Math.round(number * size));
export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
export const JSON_TYPE = { 'content-type': 'application/json' };
/** A page of the agent whose public sessions are attacked. */
export const ORIGIN = { origin: 'https://www.example.com', ...JSON_TYPE };
export const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

/** 64 KB of short, distinct names. */
export const manyFields = (first: string): string =>
  `${first}&${Array.from({ length: 16_000 }, (_, at) => at.toString(36)).join('&')}`.slice(0, 64 * KiB - 1);
export const manyMembers = (first: object, members: number): string =>
  JSON.stringify({
    ...first,
    ...Object.fromEntries(Array.from({ length: members }, (_, at) => [`m${at}`, 0])),
  });
