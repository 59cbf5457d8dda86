/** A realtime session of this page: its socket, its sound, and its progress. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../../hooks.js';
import { LivePlayer } from '../../sound/live.js';
import { base64Of, RATE, samplesOf } from '../../sound/pcm.js';
import { texts } from '../../texts.js';
import { AUDIO_DELTA, type Direction, type RealtimeEvent, useEventLog } from './event-log.js';
import { after, NO_PROGRESS } from './progress.js';
import { openSocket } from './socket.js';

export type Status = 'disconnected' | 'connecting' | 'connected';

/** Most bytes that the connection may buffer before more are sent, and how long a file waits in that case. */
const MOST_BUFFERED_BYTES = 1 << 20;
const BUFFERED_WAIT_MS = 50;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Undefined if the data is not an event. */
function eventOf(data: unknown): RealtimeEvent | undefined {
  try {
    return typeof data === 'string' ? (JSON.parse(data) as RealtimeEvent) : undefined;
  } catch {
    return undefined;
  }
}

interface Listener {
  readonly begins: () => void;
  readonly hears: (event: RealtimeEvent) => void;
  readonly ends: () => void;
}

/** One socket at a time, closed with the view. */
function useConnection({ begins, hears, ends }: Listener) {
  const [status, setStatus] = useState<Status>('disconnected');
  const [over, setOver] = useState('');
  const socket = useRef<WebSocket | undefined>(undefined);
  const closed = ({ code, reason }: CloseEvent): void => {
    socket.current = undefined;
    ends();
    setStatus('disconnected');
    setOver(texts.realtime.over(code, reason));
  };
  const opening = useAction(async (signal, session: object) => {
    setOver('');
    begins();
    try {
      const opened = (socket.current = await openSocket(session, signal));
      opened.onmessage = ({ data }) => {
        const event = eventOf(data);
        if (event) hears(event);
      };
      opened.onclose = closed;
      setStatus('connected');
    } catch (error) {
      ends();
      throw error;
    }
  });
  const disconnect = (): void => {
    opening.cancel();
    socket.current?.close(1000);
  };
  useEffect(() => disconnect, []);
  return {
    status: opening.busy ? ('connecting' as const) : status,
    over,
    error: opening.error,
    socket,
    connect: (session: object) => void opening.run(session),
    disconnect,
  };
}

/** Playout of the session's speech. */
function useVoice() {
  const player = useRef<LivePlayer | undefined>(undefined);
  return {
    /** Call from a click: browsers allow sound only after a user gesture. */
    open: (): void => void (player.current = new LivePlayer()),
    play: (base64: string): void => player.current?.add(samplesOf(base64)),
    clear: (): void => player.current?.clear(),
    level: (): number => player.current?.level ?? 0,
    close: (): void => {
      player.current?.close();
      player.current = undefined;
    },
  };
}

/** Sends events and sound, and reports when the connection is behind. Calls `passed` with each event sent. */
function senderOf(
  socket: { readonly current: WebSocket | undefined },
  passed: (event: RealtimeEvent) => void,
) {
  const send = (event: RealtimeEvent): void => {
    if (socket.current?.readyState !== WebSocket.OPEN) return;
    socket.current.send(JSON.stringify(event));
    passed(event);
  };
  const append = (samples: Float32Array): void =>
    send({ type: 'input_audio_buffer.append', audio: base64Of(samples) });
  const isBehind = (): boolean => (socket.current?.bufferedAmount ?? 0) > MOST_BUFFERED_BYTES;
  /** Sends one second at a time, as fast as the connection allows; calls `sent` with the part sent so far. */
  const appendAll = async (samples: Float32Array, signal: AbortSignal, sent: (part: number) => void) => {
    for (let at = 0; at < samples.length && socket.current; at += RATE) {
      append(samples.subarray(at, at + RATE));
      sent(Math.min(1, (at + RATE) / samples.length));
      while (isBehind() && !signal.aborted) await pause(BUFFERED_WAIT_MS);
      signal.throwIfAborted();
    }
  };
  return { send, append, appendAll, isBehind };
}

export function useRealtime() {
  const [progress, setProgress] = useState(NO_PROGRESS);
  const log = useEventLog();
  const voice = useVoice();
  const pass = (direction: Direction, event: RealtimeEvent): void => {
    log.add(direction, event);
    setProgress((before) => after(before, direction, event, performance.now()));
  };
  const { socket, ...connection } = useConnection({
    begins() {
      setProgress(NO_PROGRESS);
      log.clear();
      voice.open();
    },
    hears(event) {
      pass('received', event);
      if (event.type === AUDIO_DELTA) voice.play(String(event['delta']));
    },
    ends: voice.close,
  });
  const sender = senderOf(socket, (event) => pass('sent', event));
  const { send } = sender;
  const say = (text: string): void => {
    voice.clear();
    const content = [{ type: 'input_text', text }];
    send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    send({ type: 'response.create' });
  };
  const stopSpeaking = (): void => {
    if (progress.speaking) send({ type: 'response.cancel' });
    voice.clear();
  };
  return { ...connection, ...sender, progress, log, say, stopSpeaking, outputLevel: voice.level };
}

export type Realtime = ReturnType<typeof useRealtime>;
