/** Which inputs each route gets. A route that takes a body or frames and has no row here fails the run. */
import { LIMITS } from '../../../contracts/limits.js';
import type { DeclaredRoute } from '../../../gateway/declared-routes.js';
import { routeOf } from './route-names.js';
import {
  forms,
  type Input,
  queries,
  msgpackStructures,
  msgpackTexts,
  SMALL,
  structures,
  texts,
} from './inputs.js';

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

const AGENT = '/v1/agent';
const PHONE = '/v1/phone/{provider}';
const B = '/compat/elevenlabs/v1';

const each = (
  dialect: string,
  names: readonly string[],
  inputs: () => readonly Input[],
): readonly (readonly [string, () => readonly Input[]])[] =>
  names.map((name) => [`${dialect} ${name}`, inputs] as const);

/** Dialect, method and whole path; of protocol A without its base. */
const ROWS: ReadonlyMap<string, () => readonly Input[]> = new Map([
  [
    'native POST /v1/tts',
    () => [
      ...structures(body.nativeSynthesis - MARGIN),
      ...texts('text', {}, body.nativeSynthesis - MARGIN),
      ...msgpackTexts({}, body.nativeSynthesis - MARGIN),
      ...msgpackStructures(body.nativeSynthesis - MARGIN),
    ],
  ],
  ['native POST /v1/tts/stream/with-timestamp', timed],
  [
    'native POST /v1/asr',
    () => [...forms(body.transcription - MARGIN), ...msgpackStructures(body.nativeSynthesis - MARGIN)],
  ],
  [
    'protocol-a POST /audio/speech',
    () => texts('input', { model: 'tone', voice: 'default' }, body.protocolASynthesis - MARGIN, FEW),
  ],
  ['protocol-a POST /audio/transcriptions', () => uploads(body.transcription)],
  ['protocol-a POST /chat/completions', chat],
  ['protocol-a POST /realtime/client_secrets', small],
  ['protocol-a POST /realtime/calls', () => [...small(), ...forms(SMALL - MARGIN)]],
  ['protocol-a POST /realtime/calls/{call_id}/hangup', small],
  [
    `protocol-b POST ${B}/text-to-speech/{voice_id?}`,
    () => [
      ...structures(body.protocolB - MARGIN),
      ...texts('text', {}, body.protocolB - MARGIN, ['letters']),
    ],
  ],
  ...each(
    'protocol-b',
    ['/stream', '/with-timestamps', '/stream/with-timestamps'].map(
      (end) => `POST ${B}/text-to-speech/{voice_id?}${end}`,
    ),
    timed,
  ),
  [`protocol-b POST ${B}/speech-to-text`, () => forms(body.transcription - MARGIN)],
  [`protocol-b POST ${B}/single-use-token/{type}`, small],
  [
    'voices POST /model',
    () => [...structures(LIMITS.voice.bodyBytes - MARGIN), ...forms(LIMITS.voice.bodyBytes - MARGIN)],
  ],
  ['voices PATCH /model/{id}', platform],
  ...each(
    'platform',
    [
      'POST /agents',
      'PATCH /agents/{agent_id}',
      'PATCH /agents/{agent_id}/config',
      'POST /agents/{agent_id}/publish',
      'POST /tools',
      'PATCH /tools/{tool_id}',
      'POST /tools/{tool_id}/test',
      'POST /tools/test',
      'POST /agents/{agent_id}/llm/test',
      'POST /knowledge-sources',
      'PATCH /knowledge-sources/{source_id}',
      'POST /agents/{agent_id}/knowledge/search',
      'POST /deliveries/{delivery_id}/redeliver',
      'POST /redeliveries',
      'POST /agents/{agent_id}/webhooks/test',
      'POST /sessions',
      'POST /agents/{agent_id}/preview',
      'POST /sessions/{session_id}/end',
      'POST /chats',
      'POST /chats/{chat_id}/messages',
      'POST /tests/scenarios',
      'PATCH /tests/scenarios/{scenario_id}',
      'POST /tests/suites',
      'PATCH /tests/suites/{suite_id}',
      'POST /tests/runs',
      'POST /tests/runs/{run_id}/cancel',
      'POST /phone-numbers',
      'PATCH /phone-numbers/{phone_number_id}',
      'PUT /phone-numbers/{phone_number_id}/sip-config',
      'POST /phone-calls',
      'POST /calls',
      'POST /calls/{call_id}/cancel',
      'POST /phone-calls',
      'PUT /phone-numbers/{phone_number_id}/sip-config',
      'POST /agents/{agent_id}/llm/test',
    ].map((name) => name.replace(' ', ` ${AGENT}`)),
    platform,
  ),
  ...each(
    'phone',
    [
      'answer/{token?}',
      ...['answer', 'message', 'status', 'machine'].map((name) => `calls/{call_id}/${name}`),
      ...['answer', 'status', 'machine', 'action', 'document'].map(
        (name) => `transfers/{transfer_id}/${name}`,
      ),
    ].map((name) => `POST ${PHONE}/${name}`),
    small,
  ),
  ['media POST /livekit/webhook', small],
  ['operation POST /v1/sign-ins', small],
  ['operation POST /v1/keys', small],
  ['operation POST /v1/machine/models/{model_name}', small],
]);

const HAS_NO_BODY = new Set(['GET', 'DELETE']);

/** The inputs of a route that is no socket; undefined if nobody has thought of any. */
export const inputsOf = (route: DeclaredRoute): readonly Input[] | undefined =>
  HAS_NO_BODY.has(route.method) ? queries() : ROWS.get(routeOf(route))?.();
