/**
 * Detects the container of an upload from its first bytes alone; file names and content types are never trusted.
 * Any other file, such as a playlist or a script, is refused before a process is started.
 */

import type { FileHead } from './file-head.js';
import { holdsMpegFrames, isMpegFrame } from './mpeg-frames.js';

export type Container = 'wav' | 'mp3' | 'aac' | 'mp4' | 'ogg' | 'webm' | 'flac' | 'aiff' | 'caf';

/** FFmpeg's demuxer for each; it is forced, so that FFmpeg cannot take the file for anything else. */
export const DEMUXERS: Readonly<Record<Container, string>> = {
  wav: 'wav',
  mp3: 'mp3',
  aac: 'aac',
  mp4: 'mov',
  ogg: 'ogg',
  webm: 'matroska',
  flac: 'flac',
  aiff: 'aiff',
  caf: 'caf',
};

interface Magic {
  readonly container: Container;
  matches(bytes: Uint8Array): boolean;
}

const latin1 = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));

/** Whether one of `ids` is at the offset `at`, and one of `forms`, if given, at `formAt`. */
const tagged =
  (at: number, ids: readonly string[], formAt = 0, forms?: readonly string[]) =>
  (bytes: Uint8Array): boolean =>
    ids.includes(latin1(bytes, at, 4)) && (forms === undefined || forms.includes(latin1(bytes, formAt, 4)));

const MAGICS: readonly Magic[] = [
  { container: 'wav', matches: tagged(0, ['RIFF', 'RF64'], 8, ['WAVE']) },
  { container: 'flac', matches: tagged(0, ['fLaC']) },
  { container: 'ogg', matches: tagged(0, ['OggS']) },
  { container: 'webm', matches: tagged(0, ['\x1a\x45\xdf\xa3']) },
  { container: 'mp4', matches: tagged(4, ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip']) },
  { container: 'aiff', matches: tagged(0, ['FORM'], 8, ['AIFF', 'AIFC']) },
  { container: 'caf', matches: tagged(0, ['caff']) },
  { container: 'aac', matches: isAdtsFrame },
  { container: 'mp3', matches: isMpegFrame },
];

/** The container; undefined if it is not supported. */
export function sniff({ bytes, tag }: FileHead): Container | undefined {
  const found = MAGICS.find(({ matches }) => matches(bytes))?.container;
  // A tag may be followed by padding that only a demuxer can skip; only MP3 files are tagged like that.
  const isTagged = tag > 0 && bytes.length > 0;
  return found ?? (isTagged || holdsMpegFrames(bytes) ? 'mp3' : undefined);
}

/** An ADTS header: twelve sync bits, layer 0, a known sampling frequency. */
function isAdtsFrame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xf6) === 0xf0 && ((third >> 2) & 0x0f) < 13;
}
