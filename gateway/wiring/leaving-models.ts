/** Models that were taken away and whose files are still there: children hold them until nobody speaks or hears with them. */
import { existsSync } from 'node:fs';
import type { Config } from '../config.js';

/** All of `next`, in the order of before, and those of before whose files are there. */
const together = (before: readonly string[], next: readonly string[]): readonly string[] => [
  ...before.filter((place) => next.includes(place) || existsSync(place)),
  ...next.filter((place) => !before.includes(place)),
];

const named = (before: readonly string[], next: readonly string[]): readonly string[] => [
  ...next,
  ...before.filter((name) => !next.includes(name)),
];

const still = (place: string | undefined): string | undefined =>
  place !== undefined && existsSync(place) ? place : undefined;

/** The configuration by which children hold the models of `next`, and of `before` what is leaving. */
export function withLeaving(next: Config, before: Config): Config {
  const models = {
    tts: together(before.models.tts, next.models.tts),
    stt: together(before.models.stt, next.models.stt),
  };
  return {
    ...next,
    models,
    turns: next.turns ?? (still(before.turns?.folder) === undefined ? undefined : before.turns),
    denoiser: next.denoiser ?? still(before.denoiser),
    pico: next.pico ?? still(before.pico),
    ttsEngines: models.tts.length > 0 ? named(before.ttsEngines, next.ttsEngines) : next.ttsEngines,
    sttEngines: models.stt.length > 0 ? named(before.sttEngines, next.sttEngines) : next.sttEngines,
  };
}
