/** The operator's settings of a remote speech service. */
import { type LanguageCode, LANGUAGES } from '../../../contracts/languages.js';
import type { EngineVoice } from '../../../contracts/ports/tts.js';
import type { RemoteFormat } from './audio.js';
import type { RemoteAddress } from './request.js';

export interface RemoteSettings extends RemoteAddress {
  readonly ttsModel: string;
  readonly sttModel: string;
  /** Names as the service knows them. */
  readonly voices: readonly string[];
  /** Absent: nobody told, and it is given text in any. */
  readonly languages?: readonly LanguageCode[] | undefined;
  /** Longest silence in the middle of an answer, in milliseconds; LIMITS where absent. */
  readonly stallMs?: number;
  /** Format of its audio, and the sample rate in Hz. */
  readonly format: RemoteFormat;
  readonly rate: number;
}

export const remoteVoices = ({ voices, languages = LANGUAGES }: RemoteSettings): readonly EngineVoice[] =>
  voices.map((name) => ({ name, title: name, languages }));
