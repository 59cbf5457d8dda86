/**
 * Turns `response.create` into an order for the speech port (docs/contract/protocol-a.md 5.3; docs/contract/decisions.md "Protocol A"):
 * the text of `response.input`, else all user text that waits to be spoken; native options of the handshake win.
 */
import type { ResponseOrder } from '../../../../actors/realtime.js';
import { textOf } from '../../../../actors/realtime-items.js';
import { resolveOutput } from '../../../../codecs/formats.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { SynthesisRequest } from '../../../../contracts/ports/speech/speech.js';
import { toNativeSynthesis } from '../../../../contracts/schemas/native-options.js';
import type { RealtimeClientEvent } from './client-events.js';
import { Fault } from './faults.js';
import { readItem } from './items.js';
import type { RealtimeClient, SessionState } from './state.js';
import { forResponse, type Settings, showOutput } from './settings.js';

const invalid = (message: string, param: string): Fault => new Fault('invalid_event', message, param);

interface Spoken {
  readonly text: string;
  /** Ids of the conversation's items that are spoken. */
  readonly items: readonly string[];
}

const isReference = (value: unknown): value is { readonly id: unknown } =>
  (value as { readonly type?: unknown } | null)?.type === 'item_reference';

function referred({ id }: { readonly id: unknown }, { conversation }: SessionState, param: string): Spoken {
  const item = typeof id === 'string' ? conversation.get(id) : undefined;
  if (!item) throw new Fault('item_not_found', undefined, `${param}.id`);
  return { text: textOf(item), items: [item.id] };
}

function given(value: unknown, { events }: SessionState, param: string): Spoken {
  const { item, audio } = readItem(value, () => events.id('item'), param);
  if (audio) throw invalid('A response speaks text, not audio', `${param}.content`);
  return { text: textOf(item), items: [] };
}

function* spokenInput(input: unknown, session: SessionState): Generator<Spoken> {
  const param = 'response.input';
  if (!Array.isArray(input)) throw invalid(`${param} must be of type array`, param);
  for (const [at, value] of (input as unknown[]).entries())
    yield isReference(value)
      ? referred(value, session, `${param}.${at}`)
      : given(value, session, `${param}.${at}`);
}

function* waiting({ conversation }: SessionState): Generator<Spoken> {
  for (const item of conversation.unspoken()) yield { text: textOf(item), items: [item.id] };
}

/**
 * Joins the texts of one response. Errors: `Fault` if there is no text, or more than one item may hold; reading stops
 * there, since a thousand references may name one long item.
 */
function together(parts: Iterable<Spoken>, param: string): Spoken {
  const texts: string[] = [];
  const items: string[] = [];
  let bytes = -1;
  for (const part of parts) {
    bytes += Buffer.byteLength(part.text) + 1;
    if (bytes > LIMITS.realtime.itemTextBytes)
      throw new Fault('conversation_too_large', 'A response speaks at most 1 MiB of text', param);
    texts.push(part.text);
    items.push(...part.items);
  }
  const text = texts.join('\n');
  if (text.trim() === '') throw invalid('There is no text to speak', param);
  return { text, items };
}

/** The client's metadata, within the size limit of a session's. */
function readMetadata(value: unknown): ResponseOrder['metadata'] {
  if (value === undefined || value === null) return null;
  const param = 'response.metadata';
  const isFlat = isPlainObject(value) && Object.values(value).every((member) => typeof member === 'string');
  if (!isFlat) throw invalid(`${param} must hold texts by name`, param);
  if (Buffer.byteLength(JSON.stringify(value)) > LIMITS.session.metadataBytes)
    throw invalid(`${param} is too large`, param);
  return value as Readonly<Record<string, string>>;
}

function requestFor(text: string, settings: Settings, { options, trace }: RealtimeClient): SynthesisRequest {
  const native = toNativeSynthesis(options, {
    latency: 'low',
    speed: settings.speed,
    voice: () => settings.voice,
  });
  return {
    ...native,
    text,
    model: settings.model.id,
    trace,
    output: resolveOutput({ ...settings.output, mp3Bitrate: options.mp3_bitrate }),
  };
}

/** Errors: `Fault`. */
export function readOrder({ fields, eventId }: RealtimeClientEvent, session: SessionState): ResponseOrder {
  if (session.settings.kind === 'transcription')
    throw invalid('A transcription session does not speak', 'type');
  const asked = fields['response'] ?? {};
  if (!isPlainObject(asked)) throw invalid('response must be an object', 'response');
  const settings = forResponse(session.settings, asked, session.parts);
  const input = asked['input'] ?? undefined;
  const { text, items } = together(
    input === undefined ? waiting(session) : spokenInput(input, session),
    'response.input',
  );
  return {
    id: session.events.id('resp'),
    eventId,
    request: requestFor(text, settings, session.client),
    items,
    remembered: asked['conversation'] !== 'none',
    modalities: settings.modalities,
    output: showOutput(settings),
    metadata: readMetadata(asked['metadata']),
  };
}
