/** What clients of protocol B's realtime transcription send: options of the query, and frames. */
import t from '../../../../../fixtures/tap.js';
import type { SessionFault } from '../../../../../../actors/transcription-session.js';
import type { ErrorCode } from '../../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import { defaultVocabulary } from '../../../../../../contracts/vocabulary.js';
import {
  TranscriptionFrameFault,
  readFrame,
} from '../../../../../../gateway/dialects/protocol-b/realtime/client-frames.js';
import { sessionOptions } from '../../../../../../gateway/dialects/protocol-b/realtime/options.js';
import { exactly, throwsExactly } from '../../../../../fixtures/exactly.js';

t.test('each option of the query is taken, or refused with its code', (t) => {
  const optionsOf = (query: string) => sessionOptions(new URLSearchParams(query), defaultVocabulary);
  const unset = { model: 'transcribe-1', sampleRate: 16_000, language: '', timestamps: false };
  for (const query of [
    '',
    'model_id=&audio_format=&language_code=',
    'model_id=null&audio_format=null&language_code=null',
  ])
    exactly(t, optionsOf(query), unset);
  exactly(
    t,
    optionsOf(
      'model_id=scribe_v2_realtime&audio_format=pcm_22050&commit_strategy=manual&language_code=eng&include_timestamps=true' +
        '&include_language_detection=1&enable_logging=true&no_verbatim=false&entity_detection=&keyterms=a&keyterms=b&vad_threshold=0.3',
    ),
    { sampleRate: 22_050, language: 'eng', timestamps: true, languageDetection: true, terms: ['a', 'b'] },
  );
  exactly(t, optionsOf('model_id=svc/transcribe-1&audio_format=ulaw_8000&audio_format=pcm_48000'), {
    sampleRate: 48_000,
  });
  const refusals: readonly [string, ErrorCode][] = [
    ['commit_strategy=vad', 'unsupported_option'],
    [Array.from({ length: 1001 }, () => 'keyterms=a').join('&'), 'invalid_request'],
    ['enable_logging=false', 'unsupported_option'],
    ['enable_logging=False', 'unsupported_option'],
    ['no_verbatim=true', 'unsupported_option'],
    ['entity_detection=all&entity_detection=', 'unsupported_option'],
    ['diarize=1', 'unsupported_option'],
    ['audio_format=ulaw_8000', 'unsupported_format'],
    ['audio_format=pcm_32000', 'unsupported_format'],
    ['audio_format=__proto__', 'unsupported_format'],
    ['model_id=whisper-9', 'model_not_found'],
    ['model_id=eleven_flash_v2_5', 'model_not_found'],
  ];
  for (const [query, code] of refusals) throwsExactly(t, () => optionsOf(query), { code }, query);
  t.end();
});

const faultIn = (data: string | Uint8Array): SessionFault | undefined => {
  try {
    void readFrame(data, 16_000);
    return undefined;
  } catch (error) {
    if (error instanceof TranscriptionFrameFault) return error.fault;
    throw error;
  }
};

t.test('frames are taken in every spelling, and all others get `input_error`', (t) => {
  const chunk = (fields: object): string => JSON.stringify({ message_type: 'input_audio_chunk', ...fields });
  for (const fields of [
    {},
    { audio_base_64: '' },
    { audio_base_64: null, commit: null, sample_rate: null, previous_text: null },
    { audio_base_64: 'AAA=', commit: 'true', sample_rate: '16000' },
    { audio_base_64: 'data:audio/pcm;base64,AAAA', unknown: [1] },
  ])
    t.equal(faultIn(chunk(fields)), undefined, JSON.stringify(fields));
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const wrong: readonly (string | Uint8Array)[] = [
    '', 'null', '[]', '{', '"x"', '{"message_type":"session.update"}', '{"message_type":"__proto__"}',
    chunk({ audio_base_64: 7 }), chunk({ audio_base_64: ['AAAA'] }),
    chunk({ sample_rate: 8000 }), chunk({ sample_rate: [8000] }), chunk({ sample_rate: { toString: 1 } }), chunk({ commit: 'perhaps' }),
    deep, chunk({ junk: deep }).replace(/"\[/, '[').replace(/\]"/, ']'), Uint8Array.of(1, 2),
  ]; // oxfmt-ignore
  for (const data of wrong) {
    const fault = faultIn(data);
    exactly(t, fault, { type: 'input_error', message: String }, String(data).slice(0, 60));
    t.equal(fault?.close, undefined);
  }
  exactly(t, faultIn(chunk({ audio_base_64: 'A'.repeat(LIMITS.socket.frameBytes) })), { close: 'tooBig' });
  t.end();
});
