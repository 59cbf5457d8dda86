/** What the operator says of a remote speech service. */
import type { Language } from '../../../contracts/languages.js';
import type { EngineVoice } from '../../../contracts/ports/tts.js';
import type { RemoteFormat } from './audio.js';
import type { RemoteAddress } from './request.js';

export interface RemoteSettings extends RemoteAddress {
  readonly ttsModel: string;
  readonly sttModel: string;
  /** Names as the service knows them. */
  readonly voices: readonly string[];
  readonly languages: readonly Language[];
  /** How its audio comes, and at how many Hz. */
  readonly format: RemoteFormat;
  readonly rate: number;
}

export const remoteVoices = ({ voices, languages }: RemoteSettings): readonly EngineVoice[] =>
  voices.map((name) => ({ name, title: name, languages }));
