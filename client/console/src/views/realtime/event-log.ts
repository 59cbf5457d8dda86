/** The latest events of a session in both directions, without their audio. */
import { useCallback, useRef, useState } from 'preact/hooks';
import { bytesText } from '../../format.js';
import { texts } from '../../texts.js';

export type Direction = 'sent' | 'received';

/** An event of protocol A, in either direction. */
export type RealtimeEvent = Readonly<Record<string, unknown>> & { readonly type: string };

export interface Passed {
  readonly number: number;
  readonly direction: Direction;
  readonly type: string;
  /** Milliseconds since the session was requested. */
  readonly ms: number;
  readonly json: string;
}

/** Most events kept: more would be slow to draw, and nobody reads them. */
const MOST_EVENTS = 500;
const MOST_CHARACTERS = 2000;

/** Interval of updates to the page: deltas arrive faster than anybody reads. */
const SHOWN_EVERY_MS = 200;

export const AUDIO_DELTA = 'response.output_audio.delta';

/** The event as JSON, with audio and very long texts replaced by their size. */
export function readable(event: RealtimeEvent): string {
  const isAudio = (name: string): boolean =>
    name === 'audio' || (name === 'delta' && event.type === AUDIO_DELTA);
  const shorter = (name: string, value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    if (isAudio(name)) return texts.realtime.audioOf(bytesText(Math.floor((value.length * 3) / 4)));
    const more = value.length - MOST_CHARACTERS;
    return more > 0 ? value.slice(0, MOST_CHARACTERS) + texts.realtime.charactersMore(more) : value;
  };
  return JSON.stringify(event, shorter, 2);
}

export function useEventLog() {
  const [events, setEvents] = useState<readonly Passed[]>([]);
  const kept = useRef<Passed[]>([]);
  const began = useRef(0);
  const counted = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const show = () => {
    timer.current = undefined;
    setEvents([...kept.current]);
  };
  const add = useCallback((direction: Direction, event: RealtimeEvent): void => {
    const number = (counted.current += 1);
    const ms = performance.now() - began.current;
    kept.current.push({ number, direction, type: event.type, ms, json: readable(event) });
    if (kept.current.length > MOST_EVENTS) kept.current.shift();
    timer.current ??= setTimeout(show, SHOWN_EVERY_MS);
  }, []);
  const clear = useCallback((): void => {
    kept.current = [];
    began.current = performance.now();
    show();
  }, []);
  return { events, add, clear };
}
