/**
 * Reads and trims session descriptions (RFC 8866) before the WebRTC library sees them. The library echoes everything
 * that it does not know, and a client takes the echo for consent: so it is shown only what we support.
 */
import { withoutCandidates } from './candidates.js';

/** Bounds of an offer or an answer; usual ones have a few kilobytes and a few media lines. Each line costs the library a track. */
const MOST_SDP_BYTES = 64 * 1024;
const MOST_LINES = 64;

/** The session part before the first media line, then each media line with its attributes. */
export const sectionsOf = (sdp: string): string[] => sdp.split(/(?=^m=)/m);

/** Whether a description is within the bounds. */
export const isBounded = (sdp: string): boolean =>
  sdp.length <= MOST_SDP_BYTES && sectionsOf(sdp).length <= MOST_LINES;

/** Changes with an ICE restart. */
export const userFragmentOf = (sdp: string): string | undefined => /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];

/** The password of ICE, with which checks are signed. */
export const passwordOf = (sdp: string): string | undefined => /^a=ice-pwd:(\S+)/m.exec(sdp)?.[1];

export const midOf = (section: string): string | undefined => /^a=mid:(\S+)/m.exec(section)?.[1];

/** Whether a section is audio or video, and not data. */
export const isMedia = (section: string): boolean => /^m=(?:audio|video) /.test(section);

const OPUS = /^a=rtpmap:(\d+) opus\//im;

export const offersOpus = (section: string): boolean => section.startsWith('m=audio ') && OPUS.test(section);

/** The payload type of Opus in an offer, which the client chooses; undefined if it has no Opus. */
export function offeredOpusType(sdp: string): number | undefined {
  const type = OPUS.exec(sdp)?.[1];
  return type === undefined ? undefined : Number(type);
}

/** Codecs kept although they are not heard: a client may need one (a track of a WAV file, in Go) and fail if it is refused. */
const NOT_HEARD = /^a=rtpmap:(\d+) (?:PCM[UA]|G722)\//gim;

/** Puts Opus first, so that clients that can use it do. Removes codecs that could replace or wrap it (RED). */
function trimmedVoice(section: string): string {
  const opus = OPUS.exec(section)?.[1];
  if (opus === undefined) return section;
  const kept = new Set([opus, ...[...section.matchAll(NOT_HEARD)].map(([, type = '']) => type)]);
  const lines = section.split('\r\n').filter((line) => {
    const type = /^a=(?:rtpmap|fmtp|rtcp-fb):(\d+) /.exec(line)?.[1];
    return type === undefined || kept.has(type);
  });
  return lines.map((line) => line.replace(/^(m=\w+ \d+ \S+) .*/, `$1 ${[...kept].join(' ')}`)).join('\r\n');
}

/** Attributes kept on a data line. Not `sctp-init`, whose echo makes a client skip the SCTP handshake. */
const DATA_ATTRIBUTES =
  /^a=(?:mid|setup|fingerprint|ice-[\w-]+|candidate|end-of-candidates|sctp-port|sctpmap|max-message-size)\b/;

const trimmedData = (section: string): string =>
  section
    .split('\r\n')
    .filter((line) => !line.startsWith('a=') || DATA_ATTRIBUTES.test(line))
    .join('\r\n');

const TRIMMED: Readonly<Record<string, (section: string) => string>> = {
  audio: trimmedVoice,
  application: trimmedData,
};

const trimmed = (section: string): string =>
  TRIMMED[/^m=(\w+)/.exec(section)?.[1] ?? '']?.(section) ?? section;

export const trimOffer = (sdp: string): string => sectionsOf(sdp).map(trimmed).join('');

/** A description with all candidates of ours, in its first media section: the others are bundled with it. */
export function withCandidates(sdp: string, candidates: readonly string[]): string {
  const [session = '', first = '', ...others] = sectionsOf(withoutCandidates(sdp));
  const lines = candidates.map((candidate) => `a=${candidate}\r\n`).join('');
  return [session, first, lines, 'a=end-of-candidates\r\n', ...others].join('');
}
