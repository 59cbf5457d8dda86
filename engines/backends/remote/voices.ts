/** The voices of a remote service: those of its settings, or those that it lists itself. */
import { LIMITS } from '../../../contracts/limits.js';
import { ServiceError } from '../../../contracts/errors.js';
import { type LanguageCode, LANGUAGES } from '../../../contracts/speech/languages.js';
import type { EngineVoice } from '../../../contracts/ports/speech/tts.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { wellFormed } from '../../../contracts/text/text.js';
import type { RemoteRequest } from './request.js';
import { type RemoteSettings, servicesOf } from './settings.js';

/** How a service is asked for its voices. */
export interface VoiceListing {
  readonly path: string;
  /** The entries of an answer; undefined if it has no list. */
  entriesOf(answer: unknown): unknown;
  /** Name and title of an entry; undefined if it has none. */
  voiceOf(entry: Readonly<Record<string, unknown>>): Pick<EngineVoice, 'name' | 'title'> | undefined;
}

const odd = (): ServiceError =>
  new ServiceError('provider_failed', { message: 'The speech provider did not list its voices' });

/** Errors: `provider_failed`. */
function voicesIn(body: Buffer, listing: VoiceListing): Pick<EngineVoice, 'name' | 'title'>[] {
  let entries: unknown;
  try {
    entries = listing.entriesOf(JSON.parse(body.toString()));
  } catch (cause) {
    throw new ServiceError('provider_failed', { message: odd().message, cause });
  }
  if (!Array.isArray(entries)) throw odd();
  const all: readonly unknown[] = entries.slice(0, LIMITS.remote.voices);
  const named = all.flatMap((entry) => (isPlainObject(entry) ? (listing.voiceOf(entry) ?? []) : []));
  return named.map(({ name, title }) => ({
    name,
    title: wellFormed(title.slice(0, LIMITS.voice.title.max)),
  }));
}

/** Voices that are known once the service was asked. */
export class ListedVoices {
  #voices: readonly EngineVoice[] = [];

  constructor(
    private readonly settings: RemoteSettings,
    private readonly listing: VoiceListing,
  ) {}

  get all(): readonly EngineVoice[] {
    return this.#voices;
  }

  /** Errors: `provider_failed`. */
  async learn(signal: AbortSignal): Promise<void> {
    const request: RemoteRequest = { method: 'GET', path: this.listing.path };
    const read = { most: LIMITS.partCheck.answerBytes, read: (body: Buffer) => voicesIn(body, this.listing) };
    const found = await servicesOf(this.settings).whole(request, read, signal);
    const { languages = LANGUAGES } = this.settings;
    this.#voices = found.map((voice) => ({ ...voice, languages }));
  }
}

export interface VoicesKnown {
  readonly listing?: VoiceListing;
  /** The languages that a name tells; undefined if it tells none. */
  languagesOf?(voice: string): readonly LanguageCode[] | undefined;
}

const namedVoices = (
  { voices, languages }: RemoteSettings,
  { languagesOf = () => undefined }: VoicesKnown,
): readonly EngineVoice[] =>
  voices.map((name) => ({ name, title: name, languages: languages ?? languagesOf(name) ?? LANGUAGES }));

/** Those of the settings, if they name any. */
export function voicesOf(
  settings: RemoteSettings,
  known: VoicesKnown,
): { readonly all: readonly EngineVoice[]; learn?: ListedVoices['learn'] } {
  const { listing } = known;
  if (settings.voices.length > 0 || !listing) return { all: namedVoices(settings, known) };
  return new ListedVoices(settings, listing);
}
