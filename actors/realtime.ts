/**
 * One realtime session of protocol A (docs/contract/protocol-a.md 5; docs/contract/decisions.md "Protocol A"). The host reads and checks
 * what a client asks for; what becomes of it is decided here. Bytes do not come by here: appends go into the input
 * buffer, audio goes to the socket, and items live in the conversation.
 *
 * Invariants:
 * - one response at a time; each `begin` is followed by exactly one `finish`, or by none when the client has gone;
 * - what a response says after its `finish`, or a transcription after its item was deleted, changes nothing;
 * - an item is transcribed at most once at a time, in the order in which items came, at most
 *   LIMITS.realtime.transcriptions of them at once; each `transcribe` is followed by at most one of `transcribed`,
 *   `untranscribed`, `abandon`;
 * - settings with a new voice are applied once that voice was found, and never where it was not;
 * - nothing follows `gone` but the end of what runs.
 */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import type { SynthesisRequest, Transcript } from '../contracts/ports/speech.js';
import type { TakenAudio } from './realtime-audio.js';
import type { ConversationItem } from './realtime-items.js';
import type { RealtimeSettings } from './realtime-settings.js';

/** A response as it was asked for, settled to the last detail. */
export interface ResponseOrder {
  readonly id: string;
  /** Id of the client's `response.create`. */
  readonly eventId: string | null;
  readonly request: SynthesisRequest;
  /** Items whose text it speaks. */
  readonly items: readonly string[];
  /** Whether the answer becomes an item of the conversation. */
  readonly remembered: boolean;
  readonly modalities: readonly string[];
  /** `audio.output` as the client sees it. */
  readonly output: object;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** An item that the conversation has room for. */
export interface NewItem {
  readonly item: ConversationItem;
  /** Id of the item before it, null at the front; absent: it comes last. */
  readonly previous?: string | null;
  readonly audio: TakenAudio | undefined;
  /** How its audio is transcribed; null where it is not. */
  readonly transcription: RealtimeSettings['transcription'];
}

/** The rest of an item's audio from there on is forgotten, and its transcript. */
export interface Truncation {
  readonly item: string;
  /** Its part that holds the audio. */
  readonly part: number;
  readonly ms: number;
}

/** An error as a client is told it; `type` in the words of this protocol's realtime errors. */
export interface ToldError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
}

type Change = { readonly settings: RealtimeSettings; readonly eventId: string | null };
type Refusal = { readonly error: ToldError; readonly eventId: string | null };

export type RealtimeEvent =
  /** The settings change; `hasNewVoice`: to a voice that has to be looked up. */
  | ({ readonly type: 'update'; readonly hasNewVoice: boolean } & Change)
  | ({ readonly type: 'voiceFound' } & Change)
  | ({ readonly type: 'voiceRefused' } & Refusal)
  /** The audio of the input buffer becomes an item. */
  | { readonly type: 'commit'; readonly entry: NewItem }
  | { readonly type: 'create'; readonly entry: NewItem }
  | { readonly type: 'clear' }
  | { readonly type: 'delete'; readonly item: string }
  | ({ readonly type: 'truncate' } & Truncation)
  | { readonly type: 'respond'; readonly order: ResponseOrder }
  | { readonly type: 'cancel'; readonly response: string | undefined; readonly eventId: string | null }
  | { readonly type: 'spoken'; readonly response: string }
  | { readonly type: 'broke'; readonly response: string; readonly error: ServiceError }
  | { readonly type: 'transcript'; readonly item: string; readonly transcript: Transcript }
  | { readonly type: 'transcriptionFailed'; readonly item: string; readonly error: ServiceError }
  | { readonly type: 'gone' };

export type Ending =
  | { readonly as: 'completed' | 'cancelled' }
  | { readonly as: 'failed'; readonly error: ServiceError };

export type RealtimeEffect =
  | ({ readonly type: 'apply' } & Change)
  /** Nothing that the client sends is read until the voice was found or refused. */
  | ({ readonly type: 'findVoice' } & Change)
  | ({ readonly type: 'refuseUpdate' } & Refusal)
  | { readonly type: 'add'; readonly entry: NewItem; readonly isCommit: boolean }
  | { readonly type: 'clear' }
  | { readonly type: 'remove'; readonly item: string }
  | ({ readonly type: 'truncate' } & Truncation)
  | { readonly type: 'begin'; readonly order: ResponseOrder }
  /** The speech port has no more to do for the response. */
  | { readonly type: 'stop' }
  | { readonly type: 'finish'; readonly ending: Ending }
  | {
      readonly type: 'refuse';
      readonly code: 'response_already_active' | 'response_cancel_not_active';
      readonly eventId: string | null;
    }
  | { readonly type: 'transcribe'; readonly item: string }
  /** Nobody waits for the item's transcript any more. */
  | { readonly type: 'abandon'; readonly item: string }
  | { readonly type: 'transcribed'; readonly item: string; readonly transcript: Transcript }
  | { readonly type: 'untranscribed'; readonly item: string; readonly error: ServiceError };

interface Context {
  /** The response that runs, or ran last. */
  readonly response: string;
  /** Items whose transcription runs, and those that wait for their turn. */
  readonly transcribing: readonly string[];
  readonly waiting: readonly string[];
}

const without = (items: readonly string[], gone: string): readonly string[] =>
  items.includes(gone) ? items.filter((item) => item !== gone) : items;

const parts = setup({
  types: {} as { context: Context; events: RealtimeEvent; emitted: RealtimeEffect },
  guards: {
    isCurrent: ({ context, event }) =>
      'response' in event && (event.response === undefined || event.response === context.response),
    isTranscribing: ({ context, event }) => 'item' in event && context.transcribing.includes(event.item),
    hasNewVoice: (_, { hasNewVoice }: { hasNewVoice: boolean }) => hasNewVoice,
  },
  actions: {
    apply: emit((_, { settings, eventId }: Change) => ({ type: 'apply' as const, settings, eventId })),
    findVoice: emit((_, { settings, eventId }: Change) => ({
      type: 'findVoice' as const,
      settings,
      eventId,
    })),
    refuseUpdate: emit((_, { error, eventId }: Refusal) => ({
      type: 'refuseUpdate' as const,
      error,
      eventId,
    })),
    add: emit((_, { type, entry }: { type: 'commit' | 'create'; entry: NewItem }) => ({
      type: 'add' as const,
      entry,
      isCommit: type === 'commit',
    })),
    clear: emit({ type: 'clear' }),
    remove: emit((_, { item }: { item: string }) => ({ type: 'remove' as const, item })),
    truncate: emit((_, { item, part, ms }: Truncation) => ({ type: 'truncate' as const, item, part, ms })),
    begin: emit((_, { order }: { order: ResponseOrder }) => ({ type: 'begin' as const, order })),
    stop: emit({ type: 'stop' }),
    finish: emit((_, ending: Ending) => ({ type: 'finish' as const, ending })),
    refuseSecond: emit((_, { order }: { order: ResponseOrder }) => ({
      type: 'refuse' as const,
      code: 'response_already_active' as const,
      eventId: order.eventId,
    })),
    refuseCancel: emit((_, { eventId }: { eventId: string | null }) => ({
      type: 'refuse' as const,
      code: 'response_cancel_not_active' as const,
      eventId,
    })),
    queue: assign(({ context }, { entry }: { entry: NewItem }) =>
      entry.transcription ? { waiting: [...context.waiting, entry.item.id] } : {},
    ),
    unqueue: assign(({ context }, { item }: { item: string }) => ({
      transcribing: without(context.transcribing, item),
      waiting: without(context.waiting, item),
    })),
    /** Begins the transcriptions that wait, as far as there is room. */
    transcribe: enqueueActions(({ context: { transcribing, waiting }, enqueue }) => {
      const next = waiting.slice(0, LIMITS.realtime.transcriptions - transcribing.length);
      if (next.length === 0) return;
      enqueue.assign({ transcribing: [...transcribing, ...next], waiting: waiting.slice(next.length) });
      for (const item of next) enqueue.emit({ type: 'transcribe', item });
    }),
    abandon: emit((_, { item }: { item: string }) => ({ type: 'abandon' as const, item })),
    abandonAll: enqueueActions(({ context, enqueue }) => {
      for (const item of [...context.transcribing, ...context.waiting])
        enqueue.emit({ type: 'abandon', item });
      enqueue.assign({ transcribing: [], waiting: [] });
    }),
    tell: emit((_, { item, transcript }: { item: string; transcript: Transcript }) => ({
      type: 'transcribed' as const,
      item,
      transcript,
    })),
    tellFailure: emit((_, { item, error }: { item: string; error: ServiceError }) => ({
      type: 'untranscribed' as const,
      item,
      error,
    })),
  },
});

export const realtime = parts.createMachine({
  id: 'realtime',
  context: { response: '', transcribing: [], waiting: [] },
  initial: 'open',
  states: {
    open: {
      type: 'parallel',
      on: {
        commit: {
          actions: [
            { type: 'add', params: ({ event }) => event },
            { type: 'queue', params: ({ event }) => event },
            'transcribe',
          ],
        },
        create: {
          actions: [
            { type: 'add', params: ({ event }) => event },
            { type: 'queue', params: ({ event }) => event },
            'transcribe',
          ],
        },
        clear: { actions: 'clear' },
        delete: {
          actions: [
            { type: 'remove', params: ({ event }) => event },
            { type: 'unqueue', params: ({ event }) => event },
            { type: 'abandon', params: ({ event }) => event },
            'transcribe',
          ],
        },
        truncate: { actions: { type: 'truncate', params: ({ event }) => event } },
        transcript: {
          guard: 'isTranscribing',
          actions: [
            { type: 'unqueue', params: ({ event }) => event },
            { type: 'tell', params: ({ event }) => event },
            'transcribe',
          ],
        },
        transcriptionFailed: {
          guard: 'isTranscribing',
          actions: [
            { type: 'unqueue', params: ({ event }) => event },
            { type: 'tellFailure', params: ({ event }) => event },
            'transcribe',
          ],
        },
        gone: { target: 'gone', actions: 'abandonAll' },
      },
      states: {
        settings: {
          initial: 'settled',
          states: {
            settled: {
              on: {
                update: [
                  {
                    guard: { type: 'hasNewVoice', params: ({ event }) => event },
                    target: 'changing',
                    actions: { type: 'findVoice', params: ({ event }) => event },
                  },
                  { actions: { type: 'apply', params: ({ event }) => event } },
                ],
              },
            },
            /** A voice is looked up; what the client sends meanwhile waits. */
            changing: {
              on: {
                voiceFound: { target: 'settled', actions: { type: 'apply', params: ({ event }) => event } },
                voiceRefused: {
                  target: 'settled',
                  actions: { type: 'refuseUpdate', params: ({ event }) => event },
                },
              },
            },
          },
        },
        response: {
          initial: 'silent',
          states: {
            silent: {
              on: {
                respond: {
                  target: 'responding',
                  actions: [
                    assign({ response: ({ event }) => event.order.id }),
                    { type: 'begin', params: ({ event }) => event },
                  ],
                },
                cancel: { actions: { type: 'refuseCancel', params: ({ event }) => event } },
              },
            },
            responding: {
              on: {
                respond: { actions: { type: 'refuseSecond', params: ({ event }) => event } },
                cancel: [
                  {
                    guard: 'isCurrent',
                    target: 'silent',
                    actions: ['stop', { type: 'finish', params: { as: 'cancelled' } }],
                  },
                  { actions: { type: 'refuseCancel', params: ({ event }) => event } },
                ],
                spoken: {
                  guard: 'isCurrent',
                  target: 'silent',
                  actions: { type: 'finish', params: { as: 'completed' } },
                },
                broke: {
                  guard: 'isCurrent',
                  target: 'silent',
                  actions: {
                    type: 'finish',
                    params: ({ event }) => ({ as: 'failed' as const, error: event.error }),
                  },
                },
                gone: { target: '#realtime.gone', actions: ['stop', 'abandonAll'] },
              },
            },
          },
        },
      },
    },
    gone: { type: 'final' },
  },
});
