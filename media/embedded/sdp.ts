/**
 * Session descriptions (RFC 8866), as far as they must be read and trimmed before the WebRTC library sees them. The
 * library echoes whatever it does not know, and a client takes the echo for consent: so it is shown only what we can do.
 */

/** An offer of a client is a few kilobytes, and has a few lines of media; each costs the library a track. */
const MOST_SDP_BYTES = 64 * 1024;
const MOST_LINES = 64;

/** The session part before the first media line, then each media line with its attributes. */
export const sectionsOf = (sdp: string): string[] => sdp.split(/(?=^m=)/m);

/** Whether it is no larger than anybody's. */
export const isBounded = (sdp: string): boolean =>
  sdp.length <= MOST_SDP_BYTES && sectionsOf(sdp).length <= MOST_LINES;

/** Changes with an ICE restart. */
export const userFragmentOf = (sdp: string): string | undefined => /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];

export const midOf = (section: string): string | undefined => /^a=mid:(\S+)/m.exec(section)?.[1];

/** Whether a section is audio or video, and not data. */
export const isMedia = (section: string): boolean => /^m=(?:audio|video) /.test(section);

const OPUS = /^a=rtpmap:(\d+) opus\//im;

export const offersOpus = (section: string): boolean => section.startsWith('m=audio ') && OPUS.test(section);

/** The type of Opus in an offer, where it has any; clients choose it. */
export function offeredOpusType(sdp: string): number | undefined {
  const type = OPUS.exec(sdp)?.[1];
  return type === undefined ? undefined : Number(type);
}

/** Codecs that a client may have nothing else for (a track of a WAV file, in Go): it fails where they are refused. */
const NOT_HEARD = /^a=rtpmap:(\d+) (?:PCM[UA]|G722)\//gim;

/** Opus before all, so that whoever can speaks it. What could take its place or wrap it (RED) goes. */
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

/** Attributes of a line of data. Not `sctp-init`, whose echo makes a client leave out the handshake of SCTP. */
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
