/** Both sides of a recorded call: fetched once, drawn, and played in sync. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { request } from '../../api.js';
import { useFrames, useLoad } from '../../hooks.js';
import { decode, peaksOf } from '../../sound/peaks.js';
import type { Recording, Track } from './record.js';

export interface Side {
  readonly role: Track['role'];
  /** Address of the fetched file, for playing and saving. */
  readonly address: string;
  /** Seconds after the timeline's beginning. */
  readonly from: number;
  readonly seconds: number;
  /** Empty if the browser cannot decode the file. */
  readonly peaks: readonly number[];
}

const PEAKS = 1500;

/** Path to fetch the audio from the gateway itself, since the signed address may name another host or redirect to a bucket. */
const pathOf = (url: string): string =>
  `v1/agent/recordings/${new URL(url, document.baseURI).pathname.split('/').at(-1) ?? ''}?redirect=false`;

async function load(track: Track, beginning: number, signal: AbortSignal): Promise<Side> {
  const file = await (await request(pathOf(track.url ?? ''), { signal })).blob();
  const sound = await file
    .arrayBuffer()
    .then(decode)
    .catch(() => undefined);
  return {
    role: track.role,
    address: URL.createObjectURL(file),
    from: track.started_at ? Math.max(0, (Date.parse(track.started_at) - beginning) / 1000) : 0,
    seconds: sound?.seconds ?? (track.duration_ms ?? 0) / 1000,
    peaks: sound ? peaksOf(sound.samples, PEAKS) : [],
  };
}

/** The available sides; loaded again when the recording is. */
export function useSides(recording: Recording | undefined, beginning: number) {
  const tracks = (recording?.tracks ?? []).filter(({ url }) => url !== null);
  const loaded = useLoad<readonly Side[]>(
    (signal) => Promise.all(tracks.map((track) => load(track, beginning, signal))),
    [tracks.map(({ role, duration_ms: ms }) => `${role} ${ms}`).join(), beginning],
  );
  const sides = loaded.data;
  useEffect(() => () => sides?.forEach(({ address }) => URL.revokeObjectURL(address)), [sides]);
  return loaded;
}

export interface Playing {
  readonly time: number;
  readonly playing: boolean;
  readonly toggle: () => void;
  readonly seek: (seconds: number) => void;
  readonly speed: number;
  readonly setSpeed: (speed: number) => void;
}

/** Most drift between the sides: beyond it, one sounds like an echo of the other. */
const APART_SECONDS = 0.08;

interface Sounding {
  readonly sound: HTMLAudioElement;
  readonly from: number;
}

const within = ({ sound, from }: Sounding, time: number): boolean =>
  time >= from && time < from + (sound.duration || Infinity) && !sound.ended;

/** Plays the sides that have sound at this time, corrects drift, and pauses the rest. */
function align(sounds: readonly Sounding[], time: number): void {
  for (const each of sounds) {
    const { sound, from } = each;
    if (Math.abs(sound.currentTime - Math.max(0, time - from)) > APART_SECONDS)
      sound.currentTime = Math.max(0, time - from);
    if (!within(each, time)) sound.pause();
    else if (sound.paused) void sound.play().catch(() => undefined);
  }
}

/** Playback with one clock for both sides: that of a playing side, else the page's. */
export function usePlaying(sides: readonly Side[], length: number, initial: number): Playing {
  const [time, setTime] = useState(initial);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const sounds = useRef<readonly Sounding[]>([]);
  const last = useRef(0);
  const now = useRef(initial);
  useEffect(() => {
    sounds.current = sides.map(({ address, from }) => ({ sound: new Audio(address), from }));
    return () => sounds.current.forEach(({ sound }) => sound.pause());
  }, [sides]);
  useEffect(() => sounds.current.forEach(({ sound }) => (sound.playbackRate = speed)), [speed, sides]);
  const move = (to: number): void => {
    now.current = Math.min(length, Math.max(0, to));
    setTime(now.current);
  };
  const stop = (): void => {
    sounds.current.forEach(({ sound }) => sound.pause());
    setPlaying(false);
  };
  useFrames(playing, () => {
    const passed = ((performance.now() - last.current) / 1000) * speed;
    last.current = performance.now();
    const heard = sounds.current.find(({ sound }) => !sound.paused && sound.currentTime > 0);
    move(heard ? heard.from + heard.sound.currentTime : now.current + passed);
    if (now.current >= length) stop();
    else align(sounds.current, now.current);
  });
  const seek = (to: number): void => {
    move(to);
    for (const { sound, from } of sounds.current) sound.currentTime = Math.max(0, now.current - from);
  };
  const toggle = (): void => {
    if (playing) return stop();
    if (now.current >= length) seek(0);
    last.current = performance.now();
    setPlaying(true);
  };
  return { time, playing, toggle, seek, speed, setSpeed };
}
