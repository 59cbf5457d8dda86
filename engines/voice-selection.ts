/**
 * Voice selection: finds the engine and its voice for a requested voice, the text's scripts and the model's
 * engines (docs/contract/decisions.md "Models and voices"). The default voice is a composite, the first engine for the
 * language; a named voice is never replaced by another.
 */
import { ServiceError } from '../contracts/errors.js';
import { missingVoice } from '../contracts/speech/missing-voice.js';
import type { LanguageCode } from '../contracts/speech/languages.js';
import type { Caller } from '../contracts/ports/accounts/identity.js';
import type { SpeechOptions } from '../contracts/ports/speech/speech.js';
import type { EngineVoice, ReferenceAudio, TtsEngine, TtsRequest } from '../contracts/ports/speech/tts.js';
import type { SpeakingVoice, VoiceLibrary } from '../contracts/ports/speech/voices.js';
import {
  type LikelyLanguages,
  likelyLanguages,
  scriptsIn,
  type TextScripts,
  unreadBy,
} from './text/language.js';
import type { Registry } from './registry.js';

/** The engine, voice and language for a text. */
export interface SelectedVoice {
  readonly engine: TtsEngine;
  /** The engine's own name of the voice. */
  readonly voice: string;
  readonly language: LanguageCode;
  /** Audio of the speaker to imitate: sent with the request, or stored for a cloned voice. */
  readonly references: readonly ReferenceAudio[];
  readonly speakers?: TtsRequest['speakers'];
}

const DEFAULT_VOICE = new Set(['', 'default']);

type OwnVoice = Extract<SpeakingVoice, { kind: 'engine' }>;
type ClonedVoice = Extract<SpeakingVoice, { kind: 'cloned' }>;
/** The languages that can be spoken: those of a voice, or of the engine for cloned voices. */
type SpeaksLanguages = Pick<EngineVoice, 'languages'>;
/** Without reference audio, which the request adds. */
type EngineSelection = Omit<SelectedVoice, 'references'>;

type VoiceRequest = Pick<
  SpeechOptions,
  'model' | 'voice' | 'speakers' | 'language' | 'likelyLanguage' | 'references'
> & {
  /** The text and its scripts, as far as known. */
  readonly text: string;
  readonly scripts: TextScripts;
  /** Whether more text follows, in whatever script. */
  readonly arriving?: boolean;
};

/** Properties of the text that a voice must fit. */
export interface TextNeeds {
  readonly scripts: TextScripts;
  /** The languages that the text may be in, the likeliest first; only one if the request names it. */
  readonly languages: readonly LanguageCode[];
  /** Whether a language other than the first is very unlikely. */
  readonly sure: boolean;
  /** Whether a voice that speaks none of the languages may read the text in its own. */
  readonly neutral?: boolean;
}

const named = (scripts: TextScripts): string =>
  scripts.has('unknown') ? 'the script of this text' : `${[...scripts].join(' and ')} script`;

/** `id`: the voice as it was requested. */
function refusal(id: string, { scripts, languages }: Omit<TextNeeds, 'sure'>): ServiceError {
  const what = scripts.size > 0 ? `read ${named(scripts)}` : `speak "${languages[0] ?? ''}"`;
  const isDefault = DEFAULT_VOICE.has(id);
  const who = isDefault ? 'no configured voice can' : 'this voice cannot';
  const code = isDefault ? 'language_unavailable' : 'voice_language';
  return new ServiceError(code, { message: `Language not supported: ${who} ${what}` });
}

/** The first of the languages in which the voice speaks all of the text, else its own if the text is neutral. */
function languageBy(
  { capabilities }: TtsEngine,
  voice: SpeaksLanguages,
  needs: TextNeeds,
): LanguageCode | undefined {
  const { scripts, languages, neutral = false } = needs;
  if (capabilities.anyScript) return languages[0] ?? voice.languages[0] ?? 'en';
  if (unreadBy(voice, capabilities, scripts).length > 0) return undefined;
  const own = neutral ? voice.languages[0] : undefined;
  return languages.find((language) => voice.languages.includes(language)) ?? own;
}

/** The needs of a text in the order in which the default voice tries them. */
function* attemptsAt(needs: TextNeeds): Generator<TextNeeds> {
  const { languages, sure, neutral = false } = needs;
  yield { ...needs, languages: languages.slice(0, 1), neutral: false };
  if (!sure) yield { ...needs, languages: languages.slice(1), neutral: false };
  if (neutral) yield needs;
}

/** A voice of the likeliest language, of any engine; otherwise, unless that language is sure, the first that can read the text. */
function selectDefault(engines: readonly TtsEngine[], needs: TextNeeds): EngineSelection {
  for (const asked of attemptsAt(needs)) {
    for (const engine of engines)
      for (const voice of engine.voices) {
        const language = languageBy(engine, voice, asked);
        if (language !== undefined) return { engine, voice: voice.name, language };
      }
  }
  throw refusal('', needs);
}

function selectNamed(
  engines: readonly TtsEngine[],
  voice: OwnVoice,
  id: string,
  needs: TextNeeds,
): EngineSelection {
  const engine = engines.find(({ name }) => name === voice.engine);
  if (!engine) throw new ServiceError('voice_not_found', { message: 'This model does not have that voice' });
  const language = languageBy(engine, voice, needs);
  if (language === undefined) throw refusal(id, needs);
  return { engine, voice: voice.engineVoice, language };
}

const clones = ({ capabilities }: TtsEngine): boolean => capabilities.cloning;

function selectCloned(
  engines: readonly TtsEngine[],
  { references }: ClonedVoice,
  id: string,
  needs: TextNeeds,
): SelectedVoice {
  const cloning = engines.filter(clones);
  if (cloning.length === 0) throw new ServiceError('cloning_unavailable');
  for (const engine of cloning) {
    const language = languageBy(engine, engine.capabilities, needs);
    if (language !== undefined) return { engine, voice: '', language, references };
  }
  throw refusal(id, needs);
}

const several = ({ capabilities }: TtsEngine): boolean => capabilities.speakers;
const speakersUnavailable = (): ServiceError =>
  new ServiceError('speakers_unavailable', { param: 'reference_id' });

/** Several cloned voices in one text, by an engine that clones and speaks several voices. */
function selectClonedSpeakers(
  engines: readonly TtsEngine[],
  voices: readonly ClonedVoice[],
  needs: TextNeeds,
): SelectedVoice {
  const engine = engines.find(clones);
  if (!engine) throw new ServiceError('cloning_unavailable');
  const language = languageBy(engine, engine.capabilities, needs);
  if (language === undefined) throw refusal('speakers', needs);
  return {
    engine,
    voice: '',
    language,
    references: [],
    speakers: voices.map(({ references }) => references),
  };
}

/** Several voices in one text, all of the same engine. */
function selectEngineSpeakers(
  engines: readonly TtsEngine[],
  voices: readonly OwnVoice[],
  needs: TextNeeds,
): SelectedVoice {
  const engine = engines.find(({ name }) => voices.every((voice) => voice.engine === name));
  if (!engine) throw speakersUnavailable();
  const [language, ...others] = voices.map((voice) => languageBy(engine, voice, needs));
  if (language === undefined || others.includes(undefined)) throw refusal('speakers', needs);
  return {
    engine,
    voice: '',
    language,
    references: [],
    speakers: voices.map(({ engineVoice }) => engineVoice),
  };
}

async function selectSpeakers(
  engines: readonly TtsEngine[],
  find: (id: string) => Promise<SpeakingVoice | undefined>,
  ids: readonly string[],
  needs: TextNeeds,
): Promise<SelectedVoice> {
  const able = engines.filter(several);
  if (able.length === 0) throw speakersUnavailable();
  const found = await Promise.all(ids.map(find));
  const voices = found.filter((voice) => voice !== undefined);
  if (voices.length < ids.length) throw missingVoice(ids[found.indexOf(undefined)] ?? '', 'reference_id');
  const own = voices.filter((voice) => voice.kind === 'engine');
  const cloned = voices.filter((voice) => voice.kind === 'cloned');
  if (cloned.length === 0) return selectEngineSpeakers(able, own, needs);
  if (own.length === 0) return selectClonedSpeakers(able, cloned, needs);
  throw new ServiceError('invalid_request', {
    message: 'Voices of one text must be all cloned ones, or all of one engine',
    param: 'reference_id',
  });
}

/**
 * The languages of the text. The beginning of one that arrives tells nothing if it is in Latin letters: a sentence with
 * a name in it may follow, which is spoken if it comes as a whole.
 */
function likelyOf({ text, scripts, arriving = false }: VoiceRequest): LikelyLanguages {
  const likely = likelyLanguages(text, scripts);
  return arriving && scripts.size === 0 ? { ...likely, neutral: true } : likely;
}

/**
 * The engine, voice and language for a request. Errors: `voice_not_found`, `voice_language`,
 * `language_unavailable`, `cloning_unavailable`, `speakers_unavailable`, `overloaded`.
 */
export async function selectVoice(
  request: VoiceRequest,
  { workspaceId }: Pick<Caller, 'workspaceId'>,
  registry: Registry,
  library: VoiceLibrary,
): Promise<SelectedVoice> {
  const { references, scripts, voice: id } = request;
  const available = registry.speakersFor(request.model);
  const engines = references.length > 0 ? available.filter(clones) : available;
  if (references.length > 0 && engines.length === 0) throw new ServiceError('cloning_unavailable');
  const language = request.language ?? request.likelyLanguage;
  const asked = language === undefined ? undefined : { languages: [language], sure: true };
  const needs = { scripts, ...(asked ?? likelyOf(request)) };
  if (request.speakers)
    return selectSpeakers(engines, (each) => library.findVoice(each, workspaceId), request.speakers, needs);
  if (DEFAULT_VOICE.has(id)) return { ...selectDefault(engines, needs), references };
  const voice = await library.findVoice(id, workspaceId);
  if (!voice) throw missingVoice(id);
  if (voice.kind === 'engine') return { ...selectNamed(engines, voice, id, needs), references };
  if (references.length === 0) return selectCloned(engines, voice, id, needs);
  throw new ServiceError('invalid_request', {
    message: 'Reference audio cannot be joined with a cloned voice',
  });
}

/** The best voice of these engines for a text in that language; undefined if none speaks it. */
export function standInVoice(
  engines: readonly TtsEngine[],
  text: string,
  language: LanguageCode,
): SelectedVoice | undefined {
  const needs = { scripts: scriptsIn(text), languages: [language], sure: true };
  for (const engine of engines)
    for (const voice of engine.voices) {
      const spoken = languageBy(engine, voice, needs);
      if (spoken !== undefined) return { engine, voice: voice.name, language: spoken, references: [] };
    }
  return undefined;
}

/** Whether the default voice speaks a text of any language. */
export const isComposite = ({ voice, speakers, language }: Omit<VoiceRequest, 'text' | 'scripts'>): boolean =>
  DEFAULT_VOICE.has(voice) && !speakers && language === undefined;

/** The voices of the default voice; they throw `language_unavailable`. Errors: `cloning_unavailable`. */
export function defaultVoices(
  { model, references }: Pick<VoiceRequest, 'model' | 'references'>,
  registry: Registry,
): (needs: TextNeeds) => SelectedVoice {
  const available = registry.speakersFor(model);
  const engines = references.length > 0 ? available.filter(clones) : available;
  if (references.length > 0 && engines.length === 0) throw new ServiceError('cloning_unavailable');
  return (needs) => ({ ...selectDefault(engines, needs), references });
}

/**
 * Refuses more text for running speech if the selected voice cannot read its script. `id`: the
 * voice as requested. Errors: `voice_language`, `language_unavailable`.
 */
export function checkScripts(
  { engine, voice, language }: SelectedVoice,
  scripts: TextScripts,
  id: string,
): void {
  const spoken = engine.voices.find(({ name }) => name === voice) ?? engine.capabilities;
  const left = new Set(unreadBy(spoken, engine.capabilities, scripts));
  if (left.size > 0) throw refusal(id, { scripts: left, languages: [language] });
}
