/** Settings of remote speech services: one table for each, alike except for defaults. */
import { MP3_BITRATES, type OutputFormat } from '../../contracts/audio.js';
import { FORMATS } from '../../codecs/formats.js';
import { SYNTHESIS_MODELS } from '../../contracts/speech/models.js';
import type { RemoteFormat } from '../../engines/backends/remote/audio.js';
import type { RemoteSettings } from '../../engines/backends/remote/settings.js';
import {
  addresses,
  choice,
  count,
  credential,
  type Env,
  languages,
  list,
  named,
  readTable,
  text,
} from './setting.js';

type Defaults = Pick<RemoteSettings, 'ttsModel' | 'sttModel' | 'voices' | 'rate'>;

/** Formats that can be passed on, by the names that protocol B has for them; raw audio needs no encoding in any case. */
const PASSED: Readonly<Record<string, OutputFormat>> = Object.fromEntries([
  ...FORMATS.mp3.rates.flatMap((sampleRate) =>
    MP3_BITRATES.map((mp3Bitrate) => [
      `mp3_${sampleRate}_${mp3Bitrate}`,
      { format: 'mp3', sampleRate, mp3Bitrate },
    ]),
  ),
  ...FORMATS.opus.rates.map((sampleRate) => [`opus_${sampleRate}`, { format: 'opus', sampleRate }]),
]);

const remote = (prefix: string, service: string, initial: Defaults) => ({
  urls: addresses(`${prefix}_URL`, `Address of ${service}; several share the work.`),
  key: credential(`${prefix}_KEY`, 'Its API key.'),
  ttsModel: text(`${prefix}_TTS_MODEL`, initial.ttsModel, 'Model that it speaks with.'),
  sttModel: text(`${prefix}_STT_MODEL`, initial.sttModel, 'Model that it transcribes with.'),
  voices: list(`${prefix}_VOICES`, initial.voices, 'Its voices, as it names them.'),
  languages: languages(`${prefix}_LANGUAGES`, 'Languages that it speaks.', { shown: 'all' }),
  format: choice<RemoteFormat>(
    `${prefix}_FORMAT`,
    'pcm',
    ['pcm', 'wav'],
    'Format that is requested from it.',
  ),
  passThrough: named(
    `${prefix}_PASS_THROUGH`,
    PASSED,
    'Formats that it answers exactly so; they are passed on to clients without being encoded here.',
  ),
  rate: count(`${prefix}_RATE`, initial.rate, [8000, 48_000], 'Sample rate in Hz of its audio.'),
});

export const REMOTES = {
  openai: remote('REMOTE_OPENAI', 'the engine openai-compatible, with its /v1', {
    ttsModel: 'tts-1',
    sttModel: 'whisper-1',
    voices: ['alloy'],
    rate: 24_000,
  }),
  native: {
    ...remote('REMOTE_NATIVE', 'the engine native-compatible; a fish-speech server streams wav', {
      ttsModel: 's2.1-pro',
      sttModel: 'transcribe-1',
      voices: ['default'],
      rate: 44_100,
    }),
    ttsModels: list(
      'REMOTE_NATIVE_TTS_MODELS',
      SYNTHESIS_MODELS,
      'Its models that a request may name; for others it speaks with REMOTE_NATIVE_TTS_MODEL.',
    ),
  },
};

export type RemoteName = keyof typeof REMOTES;

/** The services whose address is configured. */
export type Remotes = Readonly<Partial<Record<RemoteName, RemoteSettings>>>;

/** For log and `/health`. */
const settingNames = ({ urls, key, ttsModel, sttModel }: (typeof REMOTES)[RemoteName]) => ({
  urlSetting: urls.env,
  keySetting: key.env,
  modelSettings: { voice: ttsModel.env, recogniser: sttModel.env },
});

export function readRemotes(env: Env): Remotes {
  const read = Object.entries(REMOTES).map(([name, table]) => [name, readTable(table, env)] as const);
  const used = read.filter(([, { urls }]) => urls !== undefined);
  return Object.fromEntries(
    used.map(([name, settings]) => [name, { ...settings, ...settingNames(REMOTES[name as RemoteName]) }]),
  ) as Remotes;
}
