/**
 * The voice library's rows for the voices of the configured engines. Ids are made from the engine's and
 * the voice's name, so they are the same on every installation. One voice answers to `alloy` (spec rule 1).
 */
import { createHash } from 'node:crypto';
import type { TtsEngine } from '../contracts/ports/tts.js';
import type { Voice, VoiceLibrary } from '../contracts/ports/voices.js';

/** 32 lowercase hex, stable for an engine's voice. */
export const voiceId = (engine: string, voice: string): string =>
  createHash('sha256').update(`${engine}/${voice}`).digest('hex').slice(0, 32);

const rowsOf = (engine: TtsEngine): Voice[] =>
  engine.voices.map((voice) => ({
    id: voiceId(engine.name, voice.name),
    title: voice.title,
    languages: voice.languages,
    aliases: [],
    engine: engine.name,
    engineVoice: voice.name,
  }));

const withAlloy = ([first, ...rest]: readonly Voice[]): readonly Voice[] =>
  first ? [{ ...first, aliases: ['alloy'] }, ...rest] : [];

export function engineVoices(engines: readonly TtsEngine[]): VoiceLibrary {
  const rows = withAlloy(engines.flatMap(rowsOf));
  const byId = new Map(rows.flatMap((row) => [row.id, ...row.aliases].map((id) => [id, row])));
  return {
    find: (id) => Promise.resolve(byId.get(id)),
    list: () => Promise.resolve(rows),
  };
}
