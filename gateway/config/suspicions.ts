/**
 * Warnings about probable mistakes that do not stop the gateway: a variable that is nearly one of ours, or begins like
 * ours; an unknown line of the settings file; an engine that is configured but not used. Values are never
 * shown.
 */
import type { Config } from '../config.js';
import { isNamed as isEngineNamed } from '../../engines/registry.js';
import { carriedPlaces } from './media-places.js';
import { NUMBERED_NAMES } from './remotes.js';
import type { Env } from './setting.js';
import { SECTIONS, SETTINGS } from './settings.js';

const KNOWN = [
  ...new Set([
    ...SECTIONS.flatMap(({ settings }) => settings.map(({ env }) => env)),
    ...NUMBERED_NAMES.flat(),
  ]),
];

/** Prefixes that only our variables have. */
const PREFIXES = [
  'LLM_',
  'REMOTE_',
  'SHERPA_',
  'MEDIA_',
  'TTS_',
  'STT_',
  'QUOTA_',
  'PUBLIC_SESSIONS_',
  'RECORDINGS_',
  'LIVEKIT_',
  'VENDOR_',
  'PROTOCOL_A_',
  'PROTOCOL_B_',
];

/** Variables read by the packages for spans and buckets, and by the npm of set-up. */
const OTHERS = /^(OTEL|AWS|NODE|npm)_/i;

/** Shorter names resemble too many others. */
const COMPARED_LENGTH = 5;
const SECOND_MISTAKE_LENGTH = 10;

/** Edit distance: letters added, left out, changed, or swapped with a neighbour. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

/** The variable that a misspelt name probably means. Lengths are looked at first: distances are most of the time that settings take. */
function nearest(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (upper.length < COMPARED_LENGTH) return undefined;
  const most = upper.length >= SECOND_MISTAKE_LENGTH ? 2 : 1;
  const [best] = KNOWN.filter(
    (known) => known[0] === upper[0] && Math.abs(known.length - upper.length) <= most,
  )
    .map((known) => ({ known, distance: editDistance(upper, known) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return best?.known;
}

/** A line for each suspicious variable. `fromFile` holds the names from the settings file, all of which are meant for us. */
export function misspeltSettings(env: Env, fromFile: readonly string[]): readonly string[] {
  const names = Object.keys(env).filter((name) => env[name] && !KNOWN.includes(name) && !OTHERS.test(name));
  return names.flatMap((name) => {
    const meant = nearest(name);
    const isOurs = PREFIXES.some((prefix) => name.startsWith(prefix)) || fromFile.includes(name);
    if (meant === undefined && !isOurs) return [];
    return [`${name} is no setting${meant === undefined ? '' : `; did you mean ${meant}?`}`];
  });
}

/** Whether a name in a list of engines stands for that one. */
const names = (name: string, engine: string): boolean => isEngineNamed({ name: engine }, name);

type Engines = 'ttsEngines' | 'sttEngines';

const isNamed = (config: Config, lists: readonly Engines[], engine: string): boolean =>
  lists.some((list) => config[list].some((name) => names(name, engine)));

const REMOTE_LISTS: readonly Engines[] = ['ttsEngines', 'sttEngines'];

type Row = readonly [variable: string, isSet: boolean, engine: string, lists: readonly Engines[]];

const remoteRows = ({ remotes }: Config): readonly Row[] =>
  Object.entries(remotes).map(([engine, { settings }]) => [
    settings.urlSetting ?? '',
    true,
    engine,
    REMOTE_LISTS,
  ]);

/** A line if more calls are asked for than the media processes carry. */
function excessPlaces(config: Config): readonly string[] {
  const { callPlaces = 0, mediaProcesses, livekit } = config;
  const most = carriedPlaces(config);
  if (livekit || callPlaces <= most) return [];
  return [
    `CALL_PLACES is ${callPlaces}, but ${mediaProcesses} of MEDIA_PROCESSES carry ${most} calls for each of WORKERS: no more are taken`,
  ];
}

/** A line for each configured address or folder that no engine in use needs, and for what is beyond the media processes. */
export function unusedSettings(config: Config): readonly string[] {
  const configured: readonly Row[] = [
    ['SHERPA_TTS', config.sherpaTts.length > 0, 'sherpa', ['ttsEngines']],
    ['SHERPA_STT', config.sherpaStt.length > 0, 'sherpa', ['sttEngines']],
    ...remoteRows(config),
  ];
  const unused = configured
    .filter(([, isSet, engine, lists]) => isSet && !isNamed(config, lists, engine))
    .map(
      ([variable, , engine, lists]) =>
        `${variable} is set, but ${lists.map((list) => SETTINGS[list].env).join(' or ')} does not name "${engine}"`,
    );
  return [...unused, ...excessPlaces(config)];
}
