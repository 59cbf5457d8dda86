/**
 * Who speaks: from the requested voice, the text's language and the model's engines to one engine and its
 * voice (decisions.md "Models, voices"). The default voice is a composite, the first engine for the
 * language; a named voice is never replaced by another.
 */
import { ServiceError } from '../contracts/errors.js';
import { isLanguage, type Language } from '../contracts/languages.js';
import type { SynthesisRequest } from '../contracts/ports/speech.js';
import type { TtsEngine } from '../contracts/ports/tts.js';
import type { Voice, VoiceLibrary } from '../contracts/ports/voices.js';
import { languageOf } from './language.js';
import type { Registry } from './registry.js';

export interface Role {
  readonly engine: TtsEngine;
  /** The engine's own name of the voice. */
  readonly voice: string;
  readonly language: Language;
}

const DEFAULT_VOICE = new Set(['', 'default']);

type Casting = Pick<SynthesisRequest, 'text' | 'model' | 'voice' | 'language' | 'references'>;

function defaultRole(engines: readonly TtsEngine[], language: Language): Role {
  for (const engine of engines) {
    const voice = engine.voices.find(({ languages }) => languages.includes(language));
    if (voice) return { engine, voice: voice.name, language };
  }
  throw new ServiceError('language_unavailable', { message: `No configured engine speaks "${language}"` });
}

/** A named voice speaks a text in Latin script in its own language when it is not an English voice. */
function languageFor(voice: Voice, wanted: Language, hinted: boolean): Language {
  if (voice.languages.includes(wanted)) return wanted;
  const own = voice.languages[0];
  if (!hinted && wanted === 'en' && own && !['ja', 'ko', 'zh'].includes(own)) return own;
  throw new ServiceError('voice_language', { message: `This voice cannot speak "${wanted}"` });
}

function namedRole(engines: readonly TtsEngine[], voice: Voice, wanted: Language, hinted: boolean): Role {
  const engine = engines.find(({ name }) => name === voice.engine);
  if (!engine) throw new ServiceError('voice_not_found', { message: 'This model does not have that voice' });
  return { engine, voice: voice.engineVoice, language: languageFor(voice, wanted, hinted) };
}

/** Errors: `voice_not_found`, `voice_language`, `language_unavailable`, `cloning_unavailable`. */
export async function cast(request: Casting, registry: Registry, library: VoiceLibrary): Promise<Role> {
  const available = registry.speakersFor(request.model);
  const cloning = request.references.length > 0;
  const engines = cloning ? available.filter(({ capabilities }) => capabilities.cloning) : available;
  if (cloning && engines.length === 0) throw new ServiceError('cloning_unavailable');
  const hinted = request.language !== undefined && isLanguage(request.language);
  const language = request.language ?? languageOf(request.text);
  if (DEFAULT_VOICE.has(request.voice)) return defaultRole(engines, language);
  const voice = await library.find(request.voice);
  if (!voice) throw new ServiceError('voice_not_found');
  return namedRole(engines, voice, language, hinted);
}
