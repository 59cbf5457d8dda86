/**
 * The voice library: the voices of the configured engines, and the workspace's cloned ones. Ids of engine
 * voices are derived from the engine's and the voice's name, so they are the same on every installation.
 * One voice has the alias `alloy` (rule 1). A cloned voice speaks the languages of the engines with cloning.
 */
import { createHash } from 'node:crypto';
import { ServiceError } from '../contracts/errors.js';
import type { LanguageCode } from '../contracts/speech/languages.js';
import { LIMITS } from '../contracts/limits.js';
import type { TtsEngine } from '../contracts/ports/speech/tts.js';
import type {
  ClonedVoice,
  ClonedVoices,
  OwnVoice,
  StoredVoice,
  VoiceCatalogue,
  VoiceLibrary,
} from '../contracts/ports/speech/voices.js';
import { languageOf } from './text/language.js';

/** 32 lowercase hex, stable for an engine's voice. */
export const voiceId = (engine: string, voice: string): string =>
  createHash('sha256').update(`${engine}/${voice}`).digest('hex').slice(0, 32);

/** Creation date of engine voices: fixed, so that a list does not change with a restart. */
const TIMELESS = new Date('2026-01-01T00:00:00.000Z');

const rowsOf = (engine: TtsEngine): OwnVoice[] =>
  engine.voices.map((voice) => ({
    kind: 'engine',
    id: voiceId(engine.name, voice.name),
    title: voice.title,
    description: '',
    tags: [engine.name],
    visibility: 'public',
    languages: voice.languages,
    titleLanguage: languageOf(voice.title),
    aliases: [],
    author: { id: engine.name, name: engine.name },
    createdAt: TIMELESS,
    updatedAt: TIMELESS,
    engine: engine.name,
    engineVoice: voice.name,
  }));

/** Clients send `alloy` if nobody chose a voice, mostly with English text: an English voice, if there is one. */
function withAlloy(voices: readonly OwnVoice[]): readonly OwnVoice[] {
  const alloy = voices.find(({ languages }) => languages.includes('en')) ?? voices[0];
  return voices.map((voice) => (voice === alloy ? { ...voice, aliases: ['alloy'] } : voice));
}

/** The voices that engines have now: some learn theirs from a service. */
class OwnVoices {
  /** The lists of which `rows` were made. */
  #lists: readonly TtsEngine['voices'][] = [];
  #rows: readonly OwnVoice[] = [];
  #byId: ReadonlyMap<string, OwnVoice> = new Map();

  constructor(private readonly engines: () => readonly TtsEngine[]) {}

  get rows(): readonly OwnVoice[] {
    const engines = this.engines();
    const lists = engines.map(({ voices }) => voices);
    const isSame = lists.length === this.#lists.length && lists.every((list, at) => list === this.#lists[at]);
    if (isSame) return this.#rows;
    this.#rows = withAlloy(engines.flatMap(rowsOf));
    this.#byId = new Map(this.#rows.flatMap((row) => [row.id, ...row.aliases].map((id) => [id, row])));
    this.#lists = lists;
    return this.#rows;
  }

  find(id: string): OwnVoice | undefined {
    return this.rows.length > 0 ? this.#byId.get(id) : undefined;
  }
}

/** A library of the engines' voices only. */
export function engineVoices(engines: readonly TtsEngine[]): VoiceLibrary {
  const own = new OwnVoices(() => engines);
  return { findVoice: (id) => Promise.resolve(own.find(id)) };
}

const clonedVoice = (stored: StoredVoice, languages: readonly LanguageCode[]): ClonedVoice => ({
  ...stored,
  kind: 'cloned',
  languages,
  titleLanguage: languageOf(stored.title),
  aliases: [],
});

/** The library of the voices that engines have now, and the stored ones. */
export function createVoices(
  engines: () => readonly TtsEngine[],
  cloned: ClonedVoices,
): VoiceLibrary & VoiceCatalogue {
  const own = new OwnVoices(engines);
  const cloning = () => engines().filter(({ capabilities }) => capabilities.cloning);
  const languages = () => [...new Set(cloning().flatMap(({ capabilities }) => capabilities.languages))];
  const shown = (stored: StoredVoice | undefined) => stored && clonedVoice(stored, languages());

  function refuseOwn(id: string): void {
    if (own.find(id)) throw new ServiceError('voice_read_only');
  }

  return {
    get clones() {
      return cloning().length > 0;
    },
    get own() {
      return own.rows;
    },
    async findVoice(id, workspaceId) {
      const voice = own.find(id);
      if (voice) return voice;
      const references = await cloned.references(id, workspaceId);
      return references && { kind: 'cloned', references };
    },
    list: async (workspaceId) => [
      ...own.rows,
      ...(await cloned.list(workspaceId)).map((stored) => clonedVoice(stored, languages())),
    ],
    read: async (id, workspaceId) => own.find(id) ?? shown(await cloned.read(id, workspaceId)),
    async create(voice, workspaceId) {
      if (cloning().length === 0) throw new ServiceError('cloning_unavailable');
      const stored = await cloned.create(voice, workspaceId);
      if (stored) return clonedVoice(stored, languages());
      const message = `A workspace has at most ${LIMITS.voice.perWorkspace} voices of its own`;
      throw new ServiceError('invalid_request', { message });
    },
    async change(id, workspaceId, changes) {
      refuseOwn(id);
      return cloned.change(id, workspaceId, changes);
    },
    async remove(id, workspaceId) {
      refuseOwn(id);
      return cloned.remove(id, workspaceId);
    },
  };
}
