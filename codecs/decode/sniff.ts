/**
 * Detects the container of an upload from its first bytes alone; file names and content types are never trusted.
 * Any other file, such as a playlist or a script, is refused before a process is started.
 */

import type { FileHead } from './file-head.js';
import { holdsMpegFrames, isMpegFrame } from './mpeg-frames.js';

/** FFmpeg's demuxer for each container; it is forced, so that FFmpeg cannot take the file for anything else. */
export const DEMUXERS = {
  wav: 'wav',
  w64: 'w64',
  mp3: 'mp3',
  aac: 'aac',
  /** AAC in LATM, framed for streams. */
  loas: 'loas',
  mp4: 'mov',
  ogg: 'ogg',
  webm: 'matroska',
  flac: 'flac',
  aiff: 'aiff',
  caf: 'caf',
  au: 'au',
  amr: 'amr',
  ac3: 'ac3',
  eac3: 'eac3',
  /** Windows Media. */
  asf: 'asf',
  avi: 'avi',
  flv: 'flv',
  /** An MPEG program stream. */
  mpeg: 'mpeg',
  /** An MPEG transport stream. */
  mpegts: 'mpegts',
} as const;

export type InputContainer = keyof typeof DEMUXERS;

interface Magic {
  readonly container: InputContainer;
  matches(bytes: Uint8Array): boolean;
}

const latin1 = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));

/** Whether one of `ids` is at the offset `at`, and one of `forms`, if given, at `formAt`. */
const tagged =
  (at: number, ids: readonly string[], formAt = 0, forms?: readonly string[]) =>
  (bytes: Uint8Array): boolean =>
    ids.includes(latin1(bytes, at, 4)) && (forms === undefined || forms.includes(latin1(bytes, formAt, 4)));

/** Wave64's first identifier, and ASF's. */
const W64_RIFF = 'riff\x2e\x91\xcf\x11';
const ASF_HEADER = '\x30\x26\xb2\x75\x8e\x66\xcf\x11';

const begins =
  (...beginnings: readonly string[]) =>
  (bytes: Uint8Array): boolean =>
    beginnings.some((beginning) => latin1(bytes, 0, beginning.length) === beginning);

const MAGICS: readonly Magic[] = [
  { container: 'wav', matches: tagged(0, ['RIFF', 'RF64', 'BW64'], 8, ['WAVE']) },
  { container: 'avi', matches: tagged(0, ['RIFF'], 8, ['AVI ']) },
  { container: 'w64', matches: begins(W64_RIFF) },
  { container: 'flac', matches: begins('fLaC') },
  { container: 'ogg', matches: begins('OggS') },
  { container: 'webm', matches: begins('\x1a\x45\xdf\xa3') },
  { container: 'mp4', matches: tagged(4, ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip']) },
  { container: 'aiff', matches: tagged(0, ['FORM'], 8, ['AIFF', 'AIFC']) },
  { container: 'caf', matches: begins('caff') },
  { container: 'au', matches: begins('.snd') },
  { container: 'amr', matches: begins('#!AMR\n', '#!AMR-WB\n') },
  { container: 'asf', matches: begins(ASF_HEADER) },
  { container: 'flv', matches: begins('FLV\x01') },
  { container: 'mpeg', matches: begins('\0\0\x01\xba') },
  { container: 'mpegts', matches: isTransportStream },
  { container: 'ac3', matches: (bytes) => isDolbyFrame(bytes, 0, 10) },
  { container: 'eac3', matches: (bytes) => isDolbyFrame(bytes, 11, 16) },
  { container: 'loas', matches: isLoas },
  { container: 'aac', matches: isAdtsFrame },
  { container: 'mp3', matches: isMpegFrame },
];

/** The container; undefined if it is not supported. */
export function sniff({ bytes, tag }: FileHead): InputContainer | undefined {
  const found = MAGICS.find(({ matches }) => matches(bytes))?.container;
  // A tag may be followed by padding that only a demuxer can skip; only MP3 files are tagged like that.
  const isTagged = tag > 0 && bytes.length > 0;
  return found ?? (isTagged || holdsMpegFrames(bytes) ? 'mp3' : undefined);
}

/** An ADTS header: twelve sync bits, layer 0, a known sampling frequency. */
function isAdtsFrame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xf6) === 0xf0 && ((third >> 2) & 0x0f) < 13;
}

/** Bytes of a transport stream's packets, and those of recorders that put a time stamp before each. */
const TS_PACKETS = [
  { bytes: 188, syncAt: 0 },
  { bytes: 192, syncAt: 4 },
];
const TS_SYNC = 0x47;
/** Frames or packets that must follow one another where a few bits are all that marks them. */
const CHAIN = [0, 1, 2];

function isTransportStream(file: Uint8Array): boolean {
  return TS_PACKETS.some(({ bytes, syncAt }) =>
    CHAIN.every((count) => file[count * bytes + syncAt] === TS_SYNC),
  );
}

/** A frame of AC-3 (up to version 10 of its stream) or E-AC-3, which share their sync bytes. */
function isDolbyFrame(bytes: Uint8Array, from: number, to: number): boolean {
  const version = (bytes[5] ?? 0xff) >> 3;
  return bytes[0] === 0x0b && bytes[1] === 0x77 && version >= from && version <= to;
}

/** Frames of eleven sync bits, and thirteen with the length of what follows. */
function isLoas(bytes: Uint8Array): boolean {
  let at = 0;
  return CHAIN.every(() => {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
    at += 3 + (((second & 0x1f) << 8) | third);
    return first === 0x56 && (second & 0xe0) === 0xe0;
  });
}
