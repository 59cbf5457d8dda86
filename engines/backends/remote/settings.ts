/** The operator's settings of a remote speech service. */
import { type LanguageCode, LANGUAGES } from '../../../contracts/speech/languages.js';
import type { EngineVoice } from '../../../contracts/ports/speech/tts.js';
import type { RemoteFormat } from './audio.js';
import { ServicePool } from './service-pool.js';

export interface RemoteSettings {
  /** Without a trailing slash; one, or several that do the same work. */
  readonly urls: readonly string[];
  readonly key?: string | undefined;
  /** As of a `RemoteAddress`. */
  readonly keySetting?: string | undefined;
  readonly ttsModel: string;
  readonly sttModel: string;
  /** Names as the service knows them. */
  readonly voices: readonly string[];
  /** Absent if not configured: it then gets text in any language. */
  readonly languages?: readonly LanguageCode[] | undefined;
  /** Longest silence in the middle of an answer, in milliseconds; default in LIMITS. */
  readonly stallMs?: number;
  /** Format of its audio, and the sample rate in Hz. */
  readonly format: RemoteFormat;
  readonly rate: number;
}

const pools = new WeakMap<RemoteSettings, ServicePool>();

/** The pool of these settings, shared by all engines that use them. */
export function servicesOf(settings: RemoteSettings): ServicePool {
  const pool = pools.get(settings) ?? new ServicePool(settings.urls, settings);
  pools.set(settings, pool);
  return pool;
}

export const remoteVoices = ({ voices, languages = LANGUAGES }: RemoteSettings): readonly EngineVoice[] =>
  voices.map((name) => ({ name, title: name, languages }));
