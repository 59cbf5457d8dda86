/**
 * The request types of SDKs whose fields the gateway meets, as data: where the typings declare them, and on which surface and in
 * which place of a request (contracts/options/) they arrive.
 */
import fs from 'node:fs';
import path from 'node:path';
import { inRoot } from '../setup/paths.mjs';
import { fieldsOf, snakeCase } from './typings.mjs';

const SDKS = inRoot('test', 'acceptance', 'node_modules');
const ELEVENLABS = '@elevenlabs/elevenlabs-js';
const OPENAI = ['openai', 'openai-7'];

/** The names are the same on the wire. */
const AS_DECLARED = (name) => name;

const speech = 'resources/audio/speech.d.ts';
const transcriptions = 'resources/audio/transcriptions.d.ts';
const chat = 'resources/chat/completions/completions.d.ts';
const realtime = 'resources/realtime/realtime.d.ts';

const inSession = (type, prefix) => ({
  file: realtime,
  type,
  prefix,
  surface: 'A realtime session',
  place: 'session',
});
const inResponse = (type, prefix) => ({
  file: realtime,
  type,
  prefix,
  surface: 'A realtime response',
  place: 'message',
});
const inSecret = (type, prefix) => ({
  file: 'resources/realtime/client-secrets.d.ts',
  type,
  prefix,
  surface: 'A client secret',
  place: 'body',
});

/** The types that both versions of openai's SDK have. `prefix`: the path of the object that the type describes. */
const OPENAI_TYPES = [
  { file: speech, type: 'SpeechCreateParams', surface: 'A speech', place: 'body' },
  { file: transcriptions, type: 'TranscriptionCreateParamsBase', surface: 'A transcription', place: 'form' },
  { file: chat, type: 'ChatCompletionCreateParamsBase', surface: 'A chat', place: 'body' },
  { file: chat, type: 'ChatCompletionAudioParam', prefix: 'audio.', surface: 'A chat', place: 'body' },
  inSession('RealtimeSessionCreateRequest'),
  inSession('RealtimeAudioConfigInput', 'audio.input.'),
  inSession('RealtimeAudioConfigOutput', 'audio.output.'),
  inSession('RealtimeTranscriptionSessionCreateRequest'),
  inSession('RealtimeTranscriptionSessionAudioInput', 'audio.input.'),
  inSession('AudioTranscription', 'audio.input.transcription.'),
  inResponse('RealtimeResponseCreateParams'),
  inResponse('RealtimeResponseCreateAudioOutput.Output', 'audio.output.'),
  inSecret('ClientSecretCreateParams'),
  inSecret('ClientSecretCreateParams.ExpiresAfter', 'expires_after.'),
];

const openaiRows = (sdk) => OPENAI_TYPES.map((row) => ({ sdk, ...row }));

const openrouter = (file, type, surface, place) => ({
  sdk: '@openrouter/sdk',
  file: `esm/models/${file}.d.ts`,
  type: `${type}$Outbound`,
  surface,
  place,
});

const elevenlabs = (file, type, surface, place, prefix) => ({
  sdk: ELEVENLABS,
  file: `${file}/${type}.d.ts`,
  type,
  surface,
  place,
  prefix,
  spelled: snakeCase,
});

/** As it goes over the wire: the type that the SDK serialises a message to. */
const sent = (type, prefix) => ({
  sdk: ELEVENLABS,
  file: `serialization/types/${type}.d.ts`,
  type: `${type}.Raw`,
  surface: 'B speech socket',
  place: 'message',
  prefix,
});

/** The SDK puts these fields of a request into the query, the others into the body. */
const IN_QUERY = new Set([
  'enable_logging',
  'optimize_streaming_latency',
  'output_format',
  'token',
  'next_page_token',
]);

const SPEAKING = [
  'BodyTextToSpeechFull',
  'BodyTextToSpeechFullWithTimestamps',
  'StreamTextToSpeechRequest',
  'StreamTextToSpeechWithTimestampsRequest',
];

const MESSAGES = [
  'InitializeConnection',
  'InitializeConnectionMulti',
  'InitialiseContext',
  'SendText',
  'SendTextMulti',
  'KeepContextAlive',
  'FlushContext',
  'CloseContext',
  'CloseSocket',
  'WebsocketTtsClientMessageMulti',
];

const speaks = 'api/resources/textToSpeech/client/requests';
const listens = 'wrapper/realtime/scribe.d.ts';
const listening = { sdk: ELEVENLABS, surface: 'B transcription socket', spelled: snakeCase };
const fish = 'dist/esm/api/resources';

const ROWS = [
  ...OPENAI.flatMap(openaiRows),
  { sdk: 'groq-sdk', file: speech, type: 'SpeechCreateParams', surface: 'A speech', place: 'body' },
  {
    sdk: 'groq-sdk',
    file: transcriptions,
    type: 'TranscriptionCreateParams',
    surface: 'A transcription',
    place: 'form',
  },
  {
    sdk: 'groq-sdk',
    file: 'resources/chat/completions.d.ts',
    type: 'ChatCompletionCreateParamsBase',
    surface: 'A chat',
    place: 'body',
  },
  openrouter('speechrequest', 'SpeechRequest', 'A speech', 'body'),
  openrouter('sttrequest', 'STTRequest', 'A transcription', 'body'),
  openrouter(
    'operations/createaudiotranscriptionsmultipart',
    'CreateAudioTranscriptionsMultipartRequestBody',
    'A transcription',
    'form',
  ),
  openrouter('chatrequest', 'ChatRequest', 'A chat', 'body'),
  openrouter('operations/getmodels', 'GetModelsRequest', 'A models', 'query'),
  ...SPEAKING.map((type) => elevenlabs(speaks, type, 'B speech', 'body')),
  elevenlabs('api/types', 'VoiceSettings', 'B speech', 'body', 'voice_settings.'),
  ...MESSAGES.map((type) => sent(type)),
  sent('RealtimeVoiceSettings', 'voice_settings.'),
  sent('GenerationConfig', 'generation_config.'),
  elevenlabs(
    'api/resources/speechToText/client/requests',
    'BodySpeechToTextV1SpeechToTextPost',
    'B transcription',
    'form',
  ),
  { ...listening, file: listens, type: 'BaseOptions', place: 'query' },
  // Its sample rate goes into each message.
  { ...listening, file: listens, type: 'AudioOptions', place: 'query', without: ['sampleRate'] },
  {
    ...listening,
    file: 'serialization/types/InputAudioChunkPayload.d.ts',
    type: 'InputAudioChunkPayload.Raw',
    place: 'message',
  },
  elevenlabs('api/resources/voices/client/requests', 'VoicesSearchRequest', 'B voices', 'query'),
  {
    sdk: 'fish-audio',
    file: `${fish}/textToSpeech/requests/TTSRequest.d.ts`,
    type: 'TTSRequest',
    surface: 'native speech',
    place: 'body',
  },
  {
    sdk: 'fish-audio',
    file: `${fish}/speechToText/requests/STTRequest.d.ts`,
    type: 'STTRequest',
    surface: 'native transcription',
    place: 'form',
  },
];

const versionOf = (sdk) =>
  JSON.parse(fs.readFileSync(path.join(SDKS, ...sdk.split('/'), 'package.json'), 'utf8')).version;

/** Fields of a request that the SDK sends as headers about the client. */
const NOT_SENT = /^(http-?referer|appTitle|appCategories|x-open)/i;

const placeOf = (name, place) => (IN_QUERY.has(name) ? 'query' : place);

/** One group a place: the names of a type's fields, sorted. */
function groupsOf({ sdk, file, type, surface, place, prefix = '', spelled = AS_DECLARED, without = [] }) {
  const whole = path.join(SDKS, ...sdk.split('/'), ...file.split('/'));
  const declared = fieldsOf(whole, type).filter((name) => !NOT_SENT.test(name) && !without.includes(name));
  const names = [...new Set(declared.map(spelled))];
  const placed = names.map((name) => [sdk === ELEVENLABS ? placeOf(name, place) : place, prefix + name]);
  return [...new Set(placed.map(([where]) => where))].map((where) => ({
    sdk,
    version: versionOf(sdk),
    type,
    surface,
    place: where,
    names: placed.flatMap(([there, name]) => (there === where ? [name] : [])).sort(),
  }));
}

/** The groups of names in the typings that acceptance tests install. */
export const typedGroups = () => ROWS.flatMap(groupsOf);
