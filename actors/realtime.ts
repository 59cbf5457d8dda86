/**
 * One realtime session of protocol A (protocol-a.md section 5; decisions.md "Protocol A"). Bytes do not come by
 * here: appends go into the input buffer, audio goes to the socket, and items live in the conversation.
 *
 * Invariants:
 * - one response at a time; each `begin` is followed by exactly one `finish`, or by none when the client has gone;
 * - what a response says after its `finish`, or a transcription after it was forgotten, changes nothing;
 * - an item is transcribed at most once at a time, in the order of `hear`, at most LIMITS.realtime.transcriptions
 *   of them at once; each `listen` is followed by at most one of `transcribed`, `untranscribed`, `leave`;
 * - nothing follows `gone` but the end of what runs.
 */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import type { SynthesisRequest, Transcript } from '../contracts/ports/speech.js';

/** A response as it was asked for, settled to the last detail. */
export interface ResponseOrder {
  readonly id: string;
  /** Of the client's `response.create`. */
  readonly eventId: string | null;
  readonly request: SynthesisRequest;
  /** Items whose text it speaks. */
  readonly items: readonly string[];
  /** Whether what is spoken becomes an item of the conversation. */
  readonly remembered: boolean;
  readonly modalities: readonly string[];
  /** `audio.output` as the client sees it. */
  readonly output: object;
  readonly metadata: Readonly<Record<string, string>> | null;
}

export type RealtimeEvent =
  | { readonly type: 'respond'; readonly order: ResponseOrder }
  | { readonly type: 'cancel'; readonly response: string | undefined; readonly eventId: string | null }
  | { readonly type: 'spoken'; readonly response: string }
  | { readonly type: 'broke'; readonly response: string; readonly error: ServiceError }
  /** The item's audio is to be transcribed. */
  | { readonly type: 'hear'; readonly item: string }
  | { readonly type: 'heard'; readonly item: string; readonly transcript: Transcript }
  | { readonly type: 'unheard'; readonly item: string; readonly error: ServiceError }
  /** The item has been deleted. */
  | { readonly type: 'forget'; readonly item: string }
  | { readonly type: 'gone' };

export type Ending =
  { readonly as: 'completed' | 'cancelled' } | { readonly as: 'failed'; readonly error: ServiceError };

export type RealtimeEffect =
  | { readonly type: 'begin'; readonly order: ResponseOrder }
  /** The speech port has no more to do for the response. */
  | { readonly type: 'stop' }
  | { readonly type: 'finish'; readonly ending: Ending }
  | {
      readonly type: 'refuse';
      readonly code: 'response_already_active' | 'response_cancel_not_active';
      readonly eventId: string | null;
    }
  | { readonly type: 'listen'; readonly item: string }
  /** Nobody waits for the item's transcript any more. */
  | { readonly type: 'leave'; readonly item: string }
  | { readonly type: 'transcribed'; readonly item: string; readonly transcript: Transcript }
  | { readonly type: 'untranscribed'; readonly item: string; readonly error: ServiceError };

interface Context {
  /** The response that runs, or ran last. */
  readonly response: string;
  /** Items whose transcription runs, and those that wait for their turn. */
  readonly hearing: readonly string[];
  readonly waiting: readonly string[];
}

const without = (items: readonly string[], gone: string): readonly string[] =>
  items.includes(gone) ? items.filter((item) => item !== gone) : items;

const parts = setup({
  types: {} as { context: Context; events: RealtimeEvent; emitted: RealtimeEffect },
  guards: {
    isCurrent: ({ context, event }) =>
      'response' in event && (event.response === undefined || event.response === context.response),
    isHearing: ({ context, event }) => 'item' in event && context.hearing.includes(event.item),
  },
  actions: {
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
    queue: assign(({ context }, { item }: { item: string }) => ({ waiting: [...context.waiting, item] })),
    unqueue: assign(({ context }, { item }: { item: string }) => ({
      hearing: without(context.hearing, item),
      waiting: without(context.waiting, item),
    })),
    /** Begins what waits, as far as there is room. */
    listen: enqueueActions(({ context: { hearing, waiting }, enqueue }) => {
      const next = waiting.slice(0, LIMITS.realtime.transcriptions - hearing.length);
      if (next.length === 0) return;
      enqueue.assign({ hearing: [...hearing, ...next], waiting: waiting.slice(next.length) });
      for (const item of next) enqueue.emit({ type: 'listen', item });
    }),
    leave: emit((_, { item }: { item: string }) => ({ type: 'leave' as const, item })),
    leaveAll: enqueueActions(({ context, enqueue }) => {
      for (const item of [...context.hearing, ...context.waiting]) enqueue.emit({ type: 'leave', item });
      enqueue.assign({ hearing: [], waiting: [] });
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
  context: { response: '', hearing: [], waiting: [] },
  initial: 'silent',
  on: {
    hear: { actions: [{ type: 'queue', params: ({ event }) => event }, 'listen'] },
    heard: {
      guard: 'isHearing',
      actions: [
        { type: 'unqueue', params: ({ event }) => event },
        { type: 'tell', params: ({ event }) => event },
        'listen',
      ],
    },
    unheard: {
      guard: 'isHearing',
      actions: [
        { type: 'unqueue', params: ({ event }) => event },
        { type: 'tellFailure', params: ({ event }) => event },
        'listen',
      ],
    },
    forget: {
      actions: [
        { type: 'unqueue', params: ({ event }) => event },
        { type: 'leave', params: ({ event }) => event },
        'listen',
      ],
    },
    gone: { target: '#realtime.gone', actions: 'leaveAll' },
  },
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
          actions: { type: 'finish', params: ({ event }) => ({ as: 'failed' as const, error: event.error }) },
        },
        gone: { target: '#realtime.gone', actions: ['stop', 'leaveAll'] },
      },
    },
    gone: { type: 'final' },
  },
});
