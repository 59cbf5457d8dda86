/** Session descriptions (RFC 8866), as far as they must be read and trimmed before the WebRTC library sees them. */
import { OPUS_TYPE } from './rtp.js';

/** An offer of a client is a few kilobytes. */
export const MOST_SDP_BYTES = 256 * 1024;

const sectionsOf = (sdp: string): string[] => sdp.split(/(?=^m=)/m);

/** Changes with an ICE restart. */
export const userFragmentOf = (sdp: string): string | undefined => /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];

const midOf = (section: string): string | undefined => /^a=mid:(\S+)/m.exec(section)?.[1];

/** The line on which the client wants to hear the agent. */
export function listeningMid(sdp: string): string | undefined {
  const section = sectionsOf(sdp).find((each) => each.startsWith('m=audio') && /^a=recvonly/m.test(each));
  return section && midOf(section);
}

const CODECS: Readonly<Record<string, RegExp>> = {
  audio: /^a=rtpmap:(\d+) opus\//im,
  video: /^a=rtpmap:(\d+) VP8\//im,
};

/** Only one codec a line: the library answers with all that is offered. */
function trimmed(section: string): string {
  const kind = /^m=(\w+)/.exec(section)?.[1] ?? '';
  const kept = CODECS[kind]?.exec(section)?.[1];
  if (kept === undefined) return section;
  const lines = section.split('\r\n').filter((line) => {
    const type = /^a=(?:rtpmap|fmtp|rtcp-fb):(\d+) /.exec(line)?.[1];
    return type === undefined || type === kept;
  });
  return lines.map((line) => line.replace(/^(m=\w+ \d+ \S+) .*/, `$1 ${kept}`)).join('\r\n');
}

export const trimOffer = (sdp: string): string => sectionsOf(sdp).map(trimmed).join('');

/** The type of Opus in an offer; clients choose it. */
export const opusTypeOf = (sdp: string): number => Number(CODECS['audio']?.exec(sdp)?.[1] ?? OPUS_TYPE);
