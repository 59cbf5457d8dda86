/**
 * Who speaks: from the requested voice, the text's language and the model's engines to one engine and its
 * voice (decisions.md "Models, voices"). The default voice is a composite, the first engine for the
 * language; a named voice is never replaced by another.
 */
import { ServiceError } from '../contracts/errors.js';
import { isLanguage, type Language } from '../contracts/languages.js';
import type { Caller } from '../contracts/ports/identity.js';
import type { SynthesisRequest } from '../contracts/ports/speech.js';
import type { ReferenceAudio, TtsEngine } from '../contracts/ports/tts.js';
import type { SpeakingVoice, VoiceLibrary } from '../contracts/ports/voices.js';
import { languageOf } from './language.js';
import type { Registry } from './registry.js';

export interface Role {
  readonly engine: TtsEngine;
  /** The engine's own name of the voice. */
  readonly voice: string;
  readonly language: Language;
  /** Who speaks, where that is no voice of the engine: the request's, or those of a cloned voice. */
  readonly references: readonly ReferenceAudio[];
}

const DEFAULT_VOICE = new Set(['', 'default']);

type OwnVoice = Extract<SpeakingVoice, { kind: 'engine' }>;
type ClonedVoice = Extract<SpeakingVoice, { kind: 'cloned' }>;
type EngineRole = Omit<Role, 'references'>;

type Casting = Pick<SynthesisRequest, 'text' | 'model' | 'voice' | 'language' | 'references'>;

function defaultRole(engines: readonly TtsEngine[], language: Language): EngineRole {
  for (const engine of engines) {
    const voice = engine.voices.find(({ languages }) => languages.includes(language));
    if (voice) return { engine, voice: voice.name, language };
  }
  throw new ServiceError('language_unavailable', { message: `No configured engine speaks "${language}"` });
}

/** A named voice speaks a text in Latin script in its own language when it is not an English voice. */
function languageFor(voice: OwnVoice, wanted: Language, hinted: boolean): Language {
  if (voice.languages.includes(wanted)) return wanted;
  const own = voice.languages[0];
  if (!hinted && wanted === 'en' && own && !['ja', 'ko', 'zh'].includes(own)) return own;
  throw new ServiceError('voice_language', { message: `This voice cannot speak "${wanted}"` });
}

function namedRole(
  engines: readonly TtsEngine[],
  voice: OwnVoice,
  wanted: Language,
  hinted: boolean,
): EngineRole {
  const engine = engines.find(({ name }) => name === voice.engine);
  if (!engine) throw new ServiceError('voice_not_found', { message: 'This model does not have that voice' });
  return { engine, voice: voice.engineVoice, language: languageFor(voice, wanted, hinted) };
}

const clones = ({ capabilities }: TtsEngine): boolean => capabilities.cloning;

function clonedRole(engines: readonly TtsEngine[], { references }: ClonedVoice, language: Language): Role {
  const cloning = engines.filter(clones);
  if (cloning.length === 0) throw new ServiceError('cloning_unavailable');
  const engine = cloning.find(({ capabilities }) => capabilities.languages.includes(language));
  if (engine) return { engine, voice: '', language, references };
  throw new ServiceError('voice_language', { message: `This voice cannot speak "${language}"` });
}

/** Errors: `voice_not_found`, `voice_language`, `language_unavailable`, `cloning_unavailable`, `overloaded`. */
export async function cast(
  request: Casting,
  { workspaceId }: Pick<Caller, 'workspaceId'>,
  registry: Registry,
  library: VoiceLibrary,
): Promise<Role> {
  const { references } = request;
  const available = registry.speakersFor(request.model);
  const engines = references.length > 0 ? available.filter(clones) : available;
  if (references.length > 0 && engines.length === 0) throw new ServiceError('cloning_unavailable');
  const hinted = request.language !== undefined && isLanguage(request.language);
  const language = request.language ?? languageOf(request.text);
  if (DEFAULT_VOICE.has(request.voice)) return { ...defaultRole(engines, language), references };
  const voice = await library.find(request.voice, workspaceId);
  if (!voice) throw new ServiceError('voice_not_found');
  if (voice.kind === 'engine') return { ...namedRole(engines, voice, language, hinted), references };
  if (references.length === 0) return clonedRole(engines, voice, language);
  throw new ServiceError('invalid_request', {
    message: 'Reference audio cannot be joined with a cloned voice',
  });
}
