/**
 * The job that a chat completion asks for (docs/contract/protocol-a.md 4.1; rules 1, 4, 6, "Refused options"): the
 * last user message is spoken, or its one audio part is transcribed; never both in one call. The rest of the conversation
 * and options for language models are ignored.
 */
import { booleanOf } from '../../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { inOrder } from '../../../../contracts/options/mapping.js';
import { A_CHAT } from '../../../../contracts/options/protocol-a.js';
import { refuseOptions } from '../../../../contracts/options/reading.js';
import type { SynthesisRequest, TranscriptionRequest } from '../../../../contracts/ports/speech/speech.js';
import { checker, withoutNulls } from '../../../../contracts/schemas/check.js';
import { toNativeSynthesis } from '../../../../contracts/schemas/native-options.js';
import { refuseOptionHeaders, refuseProviderOptions } from '../../../../contracts/schemas/refusals.js';
import { invalid, valid } from '../../../../contracts/schemas/valid.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import type { AudioDocument } from '../../../server/bodies/audio-json.js';
import type { Base } from '../bases.js';
import { carriedOptions, speechOutput, synthesisModel, voiceId } from '../speech-params.js';
import { inputAudio, transcriptionModel } from '../uploads.js';
import { ChatBody } from './schema.js';

interface Form {
  readonly stream: boolean;
  /** Whether a stream ends with the usage; a whole answer always has it. */
  readonly includeUsage: boolean;
}

export type CompletionRequest = Form &
  (
    | { readonly speak: SynthesisRequest; readonly transcribe?: undefined }
    | { readonly transcribe: TranscriptionRequest; readonly speak?: undefined }
  );

export interface ChatSource {
  readonly document: AudioDocument;
  readonly headers: ReadonlyMap<string, string>;
}

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly input_audio?: unknown;
}

const checkBody = checker(ChatBody);

const refused = (message: string, param: string): ServiceError =>
  new ServiceError('unsupported_option', { message, param });

const partsOf = ({ content }: ChatBody['messages'][number]): readonly Part[] =>
  Array.isArray(content) ? content.map((part: unknown) => (part ?? {}) as Part) : [];

const isAudio = ({ type }: Part): boolean => type === 'input_audio';

/** The last user message, and the path of its content. */
interface Asked {
  readonly message: ChatBody['messages'][number];
  readonly field: string;
}

function lastUserMessage({ messages }: ChatBody): Asked {
  const index = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[index];
  if (!message) throw invalid('messages must hold a user message', 'messages');
  return { message, field: `messages.${index}.content` };
}

function textOf({ message, field }: Asked): string {
  const { content } = message;
  const texts = partsOf(message).flatMap(({ type, text }) => (type === 'text' ? [text] : []));
  if (!texts.every((text) => typeof text === 'string'))
    throw invalid(`a text part of ${field} has no text`, field);
  const text = typeof content === 'string' ? content : texts.join('\n');
  if (text.trim() === '') throw invalid('the last user message holds no text', field);
  return text;
}

function audioPartOf({ message, field }: Asked): { readonly part: Part; readonly field: string } {
  const parts = partsOf(message);
  const index = parts.findIndex(isAudio);
  const part = parts[index];
  if (!part || parts.filter(isAudio).length > 1)
    throw invalid('the last user message must hold one input_audio part', field);
  return { part, field: `${field}.${index}.input_audio` };
}

function spoken(
  body: ChatBody,
  { headers }: ChatSource,
  base: Base,
  vocabulary: Vocabulary,
): SynthesisRequest {
  const options = inOrder(carriedOptions(headers, body.provider?.options, vocabulary));
  const { voice, format } = body.audio ?? {};
  const native = toNativeSynthesis(options, { latency: 'low', voice: () => voiceId(voice, 'audio.voice') });
  return {
    ...native,
    text: textOf(lastUserMessage(body)),
    model: synthesisModel(body.model, vocabulary),
    output: speechOutput({ name: format, param: 'audio.format' }, base, options),
  };
}

async function transcriptionOf(
  body: ChatBody,
  { document, headers }: ChatSource,
  vocabulary: Vocabulary,
): Promise<TranscriptionRequest> {
  refuseOptionHeaders(headers, vocabulary);
  refuseProviderOptions(body.provider?.options, vocabulary);
  const model = transcriptionModel(body.model, vocabulary);
  const { part, field } = audioPartOf(lastUserMessage(body));
  return { model, audio: await inputAudio(withoutNulls(part.input_audio ?? {}), document, field) };
}

const formOf = ({ stream, stream_options: options }: ChatBody): Form => ({
  stream: booleanOf(stream) ?? false,
  includeUsage: booleanOf(options?.include_usage) ?? false,
});

/**
 * Errors: `invalid_request`, `unsupported_option`, `unsupported_format`, `model_not_found`, `voice_not_found`,
 * `speakers_unavailable`, `audio_too_large`.
 */
export async function chatRequest(
  source: ChatSource,
  base: Base,
  vocabulary: Vocabulary,
): Promise<CompletionRequest> {
  const check = (value: unknown): ChatBody => valid(checkBody(withoutNulls(value)));
  const body = check(source.document.value);
  refuseOptions(body, A_CHAT);
  const speaks = body.modalities?.includes('audio') ?? false;
  const transcribes = body.messages.some((message) => partsOf(message).some(isAudio));
  if (speaks && transcribes) throw refused('Audio input and audio output do not go together', 'modalities');
  if (speaks) {
    const whole = check(await source.document.whole());
    return { ...formOf(body), speak: spoken(whole, source, base, vocabulary) };
  }
  if (transcribes) return { ...formOf(body), transcribe: await transcriptionOf(body, source, vocabulary) };
  const message = 'This is no language model: ask for the audio modality, or send input_audio';
  throw refused(message, 'modalities');
}
