/**
 * Remote engines with the widely spoken REST API: `/audio/speech` and `/audio/transcriptions` below the base
 * address (which usually ends in `/v1`). They run in the gateway's process, because nothing here computes.
 */
import type { FormData } from 'undici';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import type { Transcriber } from '../../long-audio.js';
import { wavFile } from '../remote/audio.js';
import { pieceOf, remoteTranscriber, REPLY_BYTES } from '../remote/transcription.js';
import { type RemoteSettings, servicesOf } from '../remote/settings.js';
import { type Abilities, remoteSpeech } from '../remote/synthesis.js';

const NAME = 'openai-compatible';

const ABILITIES: Abilities = { cloning: false, speakers: false, styleTags: false };

/** Errors of `synthesize`: `provider_failed`. */
export const createOpenaiSpeech = (settings: RemoteSettings): TtsEngine =>
  remoteSpeech(NAME, settings, ABILITIES, ({ text, voice, speed }) => ({
    path: '/audio/speech',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: settings.ttsModel,
      voice,
      input: text,
      response_format: settings.format,
      speed,
    }),
  }));

async function formOf(samples: Int16Array, model: string, language: string | undefined): Promise<FormData> {
  const { FormData } = (await import('undici')).default;
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(wavFile(samples))], { type: 'audio/wav' }), 'audio.wav');
  form.append('model', model);
  form.append('response_format', 'verbose_json');
  form.append('timestamp_granularities[]', 'word');
  form.append('timestamp_granularities[]', 'segment');
  if (language !== undefined) form.append('language', language);
  return form;
}

/** Errors of `transcribe`: `provider_failed`. */
export const createOpenaiTranscriber = (settings: RemoteSettings): Transcriber =>
  remoteTranscriber(
    NAME,
    settings.languages ?? 'any',
    async (samples, { language, traceContext }, signal) => {
      const body = await formOf(samples, settings.sttModel, language);
      return pieceOf(
        await servicesOf(settings).bytes(
          { path: '/audio/transcriptions', body, traceContext },
          REPLY_BYTES,
          signal,
        ),
      );
    },
  );
