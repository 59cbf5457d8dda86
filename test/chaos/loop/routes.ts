/** Which inputs each route gets. A route that takes a body or frames and has no row here fails the run. */
import { LIMITS } from '../../../contracts/limits.js';
import type { DeclaredRoute } from '../../fixtures/routes.js';
import { forms, type Input, msgpackStructures, msgpackTexts, SMALL, structures, texts } from './inputs.js';

const { body } = LIMITS;
const MARGIN = 2000;
const FEW = ['letters', 'one cyrillic word', 'han', 'emoji', 'stops'];

const platform = (): readonly Input[] => structures(body.platform - MARGIN);
const small = (): readonly Input[] => [
  ...structures(SMALL - MARGIN),
  ...texts('text', {}, SMALL - MARGIN, FEW),
];
const timed = (): readonly Input[] => texts('text', {}, body.nativeSynthesis - MARGIN, FEW);
const uploads = (bytes: number): readonly Input[] => [
  ...structures(bytes - MARGIN),
  ...forms(bytes - MARGIN),
  ...texts('file', { model: 'm' }, bytes - MARGIN, ['letters', 'quotes']),
];
const chat = (): readonly Input[] => [
  ...structures(body.protocolASynthesis - MARGIN),
  ...FEW.map((alphabet): Input => {
    const [inner] = texts('content', { role: 'user' }, body.protocolASynthesis - MARGIN, [alphabet]);
    const head =
      '{"model":"tone","modalities":["text","audio"],"audio":{"voice":"default","format":"pcm16"},"stream":true,"messages":[';
    return {
      name: `message of ${alphabet}`,
      type: 'application/json',
      body: () => Buffer.concat([Buffer.from(head), inner!.body(), Buffer.from(']}')]),
    };
  }),
];

/** Method and the end of a path, the first that fits. */
const ROWS: readonly (readonly [route: string, inputs: () => readonly Input[]])[] = [
  [
    'POST /v1/tts',
    () => [
      ...structures(body.nativeSynthesis - MARGIN),
      ...texts('text', {}, body.nativeSynthesis - MARGIN),
      ...msgpackTexts({}, body.nativeSynthesis - MARGIN),
      ...msgpackStructures(body.nativeSynthesis - MARGIN),
    ],
  ],
  ['POST /v1/tts/stream/with-timestamp', timed],
  [
    'POST /v1/asr',
    () => [...forms(body.transcription - MARGIN), ...msgpackStructures(body.nativeSynthesis - MARGIN)],
  ],
  [
    'POST /audio/speech',
    () => texts('input', { model: 'tone', voice: 'default' }, body.protocolASynthesis - MARGIN, FEW),
  ],
  ['POST /audio/transcriptions', () => uploads(body.transcription)],
  ['POST /chat/completions', chat],
  ['POST /realtime/client_secrets', small],
  [
    'POST /v1/text-to-speech/{voice_id?}',
    () => [
      ...structures(body.protocolB - MARGIN),
      ...texts('text', {}, body.protocolB - MARGIN, ['letters']),
    ],
  ],
  ['POST /stream', timed],
  ['POST /with-timestamps', timed],
  ['POST /v1/speech-to-text', () => forms(body.transcription - MARGIN)],
  ['POST /v1/single-use-token/{type}', small],
  [
    'POST /model',
    () => [...structures(LIMITS.voice.bodyBytes - MARGIN), ...forms(LIMITS.voice.bodyBytes - MARGIN)],
  ],
  ['PATCH /model/{id}', platform],
  ...[
    'POST /agents',
    'PATCH /agents/{agent_id}',
    'PATCH /config',
    'POST /publish',
    'POST /tools',
    'PATCH /tools/{tool_id}',
    'POST /test',
    'POST /knowledge-sources',
    'PATCH /knowledge-sources/{source_id}',
    'POST /knowledge/search',
    'POST /redeliver',
    'POST /sessions',
    'POST /preview',
    'POST /end',
    'POST /scenarios',
    'PATCH /scenarios/{scenario_id}',
    'POST /suites',
    'PATCH /suites/{suite_id}',
    'POST /runs',
    'POST /cancel',
    'POST /phone-numbers',
    'PATCH /phone-numbers/{phone_number_id}',
    'POST /v1/agent/calls',
  ].map((route) => [route, platform] as const),
  ...[
    'POST /answer',
    'POST /message',
    'POST /status',
    'POST /machine',
    'POST /action',
    'POST /document',
    'POST /webhook',
  ].map((route) => [route, small] as const),
];

/** The inputs of a route; undefined if nobody has thought of any. */
export function inputsOf({ method, path }: DeclaredRoute): readonly Input[] | undefined {
  const row = ROWS.find(([route]) => {
    const [wanted = '', end = ''] = route.split(' ');
    return method === wanted && path.endsWith(end);
  });
  return row?.[1]();
}
