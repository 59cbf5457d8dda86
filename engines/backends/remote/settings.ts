/** The operator's settings of a remote speech service. */
import type { LanguageCode } from '../../../contracts/speech/languages.js';
import type { OutputFormat } from '../../../contracts/audio.js';
import type { RemoteFormat } from './audio.js';
import { type ForWhom, type Keeper, originOf, type Part } from '../../../contracts/ports/parts.js';
import type { RemoteAddress } from './request.js';
import { type QuestionFor, ServicePool } from './service-pool.js';

export interface RemoteSettings {
  /** Name of its engine; default: that of its kind. */
  readonly engine?: string;
  /** As of a `RemoteAddress`. */
  readonly keyAs?: RemoteAddress['keyAs'];
  /** Without a trailing slash; one, or several that do the same work. */
  readonly urls: readonly string[];
  readonly key?: string | undefined;
  /** As of a `RemoteAddress`. */
  readonly keySetting?: string | undefined;
  /** The setting that holds the addresses. */
  readonly urlSetting?: string | undefined;
  /** The settings that hold its models. */
  readonly modelSettings?: Readonly<Record<'voice' | 'recogniser', string>>;
  readonly ttsModel: string;
  /** Models that a request may choose in its place; none if absent. */
  readonly ttsModels?: readonly string[];
  readonly sttModel: string;
  /** Model that hears while it is spoken; absent: none. */
  readonly liveModel?: string | undefined;
  /** Whether it is told what is expected of speech, as far as it has fields for that; default: on. */
  readonly context?: 'on' | 'off';
  /** Names as the service knows them. */
  readonly voices: readonly string[];
  /** Absent if not configured: it then gets text in any language. */
  readonly languages?: readonly LanguageCode[] | undefined;
  /** Longest silence in the middle of an answer, in milliseconds; default in LIMITS. */
  readonly stallMs?: number;
  /** Format of its audio, and the sample rate in Hz. */
  readonly format: RemoteFormat;
  readonly rate: number;
  /** Formats of clients in which it answers itself; default: none. */
  readonly passThrough?: readonly OutputFormat[];
}

/** Name of the engine; `kind`: the name of its row in the wiring. */
export const engineOf = ({ engine }: Pick<RemoteSettings, 'engine'>, kind: string): string => engine ?? kind;

const pools = new WeakMap<RemoteSettings, ServicePool>();

/** The pool of these settings, shared by all engines that use them. */
export function servicesOf(settings: RemoteSettings): ServicePool {
  const pool = pools.get(settings) ?? new ServicePool(settings.urls, settings);
  pools.set(settings, pool);
  return pool;
}

/** The addresses of a service as parts of the gateway, which are told apart by number if there are several. */
export const partsOf = (
  kind: 'voice' | 'recogniser',
  engine: string,
  { urls, urlSetting, keySetting, modelSettings }: RemoteSettings,
): readonly Part[] =>
  urls.map((url, at) => ({
    kind,
    name: urls.length === 1 ? engine : `${engine} ${at + 1}`,
    address: originOf(url),
    settings: {
      address: urlSetting,
      key: keySetting,
      choice: modelSettings && `${urlSetting} and ${modelSettings[kind]}`,
    },
  }));

/** Asks the service as that kind of part, for somebody. */
export function askingAs(
  kind: 'voice' | 'recogniser',
  engine: string,
  settings: RemoteSettings,
  keeper: Keeper,
): (whom: ForWhom | undefined) => QuestionFor {
  const parts = partsOf(kind, engine, settings);
  for (const part of parts) keeper.knowPart(part);
  return (whom) => (at) => keeper.ask(parts[at] ?? { kind, name: engine }, whom);
}
