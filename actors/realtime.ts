/**
 * One realtime session of protocol A (docs/contract/protocol-a.md 5; docs/contract/decisions.md "Protocol A"). The host reads and checks
 * the client's requests; this machine decides what happens. Audio bypasses it: appends go into the input buffer, speech
 * goes to the socket, and items live in the conversation.
 *
 * Invariants:
 * - one response at a time; each `begin` is followed by exactly one `finish`, or by none if the client has gone;
 * - events of a response after its `finish`, or of a transcription after its item was deleted, have no effect;
 * - transcriptions begin in the order of their items, at most LIMITS.realtime.transcriptions run at once, and at most one
 *   per item; each `transcribe` is followed by at most one of `transcribed`, `untranscribed`, `abandon`;
 * - settings with a new voice are applied only once that voice was found;
 * - after `gone`, running work is stopped and nothing else happens.
 */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import type { SynthesisRequest, Transcript } from '../contracts/ports/speech/speech.js';
import type { TakenAudio } from './incoming-audio.js';
import type { ConversationItem } from './realtime-items.js';
import type { RealtimeSettings } from './realtime-settings.js';

/** A requested response with all its details settled. */
export interface ResponseOrder {
  readonly id: string;
  /** Id of the client's `response.create`. */
  readonly eventId: string | null;
  readonly request: SynthesisRequest;
  /** Ids of the items whose text it speaks. */
  readonly items: readonly string[];
  /** Whether the response is added to the conversation as an item. */
  readonly remembered: boolean;
  readonly modalities: readonly string[];
  /** `audio.output` as the client sees it. */
  readonly output: object;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** A new item that the conversation has room for. */
export interface NewItem {
  readonly item: ConversationItem;
  /** Id of the item before it, null at the front; if absent, it comes last. */
  readonly previous?: string | null;
  readonly audio: TakenAudio | undefined;
  /** How its audio is transcribed; null if it is not. */
  readonly transcription: RealtimeSettings['transcription'];
}

/** Drops an item's audio after the first `ms` milliseconds, and its transcript. */
export interface Truncation {
  readonly item: string;
  /** Index of the part with the audio. */
  readonly part: number;
  readonly ms: number;
}

/** An error as the client is told it; `type` is one of this protocol's realtime error types. */
export interface ToldError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
}

type Change = { readonly settings: RealtimeSettings; readonly eventId: string | null };
type Refusal = { readonly error: ToldError; readonly eventId: string | null };

export type RealtimeEvent =
  /** The settings change; `hasNewVoice` if the voice has to be looked up first. */
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
  /** The client's frames wait until the voice was found or refused. */
  | ({ readonly type: 'findVoice' } & Change)
  | ({ readonly type: 'refuseUpdate' } & Refusal)
  | { readonly type: 'add'; readonly entry: NewItem; readonly isCommit: boolean }
  | { readonly type: 'clear' }
  | { readonly type: 'remove'; readonly item: string }
  | ({ readonly type: 'truncate' } & Truncation)
  | { readonly type: 'begin'; readonly order: ResponseOrder }
  /** Stops the synthesis of the response. */
  | { readonly type: 'stop' }
  | { readonly type: 'finish'; readonly ending: Ending }
  | {
      readonly type: 'refuse';
      readonly code: 'response_already_active' | 'response_cancel_not_active';
      readonly eventId: string | null;
    }
  | { readonly type: 'transcribe'; readonly item: string }
  /** The item's transcript is no longer wanted. */
  | { readonly type: 'abandon'; readonly item: string }
  | { readonly type: 'transcribed'; readonly item: string; readonly transcript: Transcript }
  | { readonly type: 'untranscribed'; readonly item: string; readonly error: ServiceError };

interface Context {
  /** Id of the running response, or of the last one. */
  readonly response: string;
  /** Ids of items whose transcription runs or is queued. */
  readonly transcribing: readonly string[];
  readonly waiting: readonly string[];
}

const without = (items: readonly string[], gone: string): readonly string[] =>
  items.filter((item) => item !== gone);

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
    /** Begins queued transcriptions, up to the limit. */
    transcribe: enqueueActions(({ context: { transcribing, waiting }, enqueue }) => {
      const next = waiting.slice(0, LIMITS.realtime.transcriptions - transcribing.length);
      enqueue.assign({ transcribing: [...transcribing, ...next], waiting: waiting.slice(next.length) });
      for (const item of next) enqueue.emit({ type: 'transcribe', item });
    }),
    abandon: emit((_, { item }: { item: string }) => ({ type: 'abandon' as const, item })),
    abandonAll: enqueueActions(({ context, enqueue }) => {
      for (const item of [...context.transcribing, ...context.waiting])
        enqueue.emit({ type: 'abandon', item });
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
            /** A voice is being looked up; the client's frames wait. */
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
