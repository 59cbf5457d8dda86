/**
 * The directions of the media lines of a session description. A client turns its lines on and off as it publishes,
 * and each answer must follow (RFC 8829, 5.3.1); the WebRTC library never changes the first direction of a line.
 * So the library is told that all lines are on, and the directions of the answer are written here.
 *
 * Invariant: the agent speaks on one line at most, and only while the client listens there.
 */
import { isMedia, midOf, offersOpus, sectionsOf } from './sdp.js';
import type { SoundLine } from './user-tracks.js';

type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
type Answers = Readonly<Record<Direction, Direction>>;

const DIRECTION = /^a=(sendrecv|sendonly|recvonly|inactive)\r?$/m;

/** Answered direction by offered direction. */
const AGENT_LINE: Answers = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};
const OTHER_LINES: Answers = { ...AGENT_LINE, sendrecv: 'recvonly', recvonly: 'inactive' };

/** Direction of a line; `sendrecv` if it has none. */
const directionOf = (section: string): Direction => (DIRECTION.exec(section)?.[1] ?? 'sendrecv') as Direction;

const directed = (section: string, direction: Direction): string =>
  DIRECTION.test(section) ? section.replace(DIRECTION, `a=${direction}\r`) : `${section}a=${direction}\r\n`;

/** The description with the direction of each media line set by `ask`. */
const redirected = (sdp: string, ask: (mid: string | undefined) => Direction): string =>
  sectionsOf(sdp)
    .map((section) => (isMedia(section) ? directed(section, ask(midOf(section))) : section))
    .join('');

/**
 * The line on which the client wants to hear the agent: one on which it only listens, otherwise one on which it also
 * speaks. Undefined if it does not listen.
 */
export function listeningMid(offer: string): string | undefined {
  const lines = sectionsOf(offer).filter(offersOpus);
  const listens = (direction: Direction) => lines.find((line) => directionOf(line) === direction);
  const line = listens('recvonly') ?? listens('sendrecv');
  return line && midOf(line);
}

/** Whether the client has dropped the line (RFC 8829, 5.2.2): it stays in the offer, with port 0. */
const isGivenUp = (section: string): boolean => /^m=\w+ 0 /.test(section) && !/^a=bundle-only/m.test(section);

/** State of the agent's line: the client listens on it, does not at present, or has dropped it for good. */
export function agentLineOf(offer: string, mid: string): 'heard' | 'muted' | 'gone' {
  const line = sectionsOf(offer).find((section) => midOf(section) === mid);
  if (!line || isGivenUp(line)) return 'gone';
  return /^(sendrecv|recvonly)$/.test(directionOf(line)) ? 'heard' : 'muted';
}

/** The offer for the library: the client speaks on all lines, and listens on the agent's. */
export const allOn = (offer: string, agentMid: string | undefined): string =>
  redirected(offer, (mid) => (mid === agentMid ? 'sendrecv' : 'sendonly'));

/** The answer with lines that the client has dropped turned off, as the library keeps offering them. */
function withoutGivenUp(offer: string, answer: string): string {
  const gone = new Set(sectionsOf(offer).filter(isGivenUp).map(midOf));
  const kept = (group: string): string[] => group.split(' ').filter((mid) => !gone.has(mid));
  return sectionsOf(answer)
    .map((section) => (gone.has(midOf(section)) ? section.replace(/^(m=\w+) \d+/, '$1 0') : section))
    .join('')
    .replace(/^a=group:BUNDLE [^\r\n]*/m, (group) => kept(group).join(' '));
}

/** The library's answer, with the directions that fit the client's offer. */
export function following(offer: string, answer: string, agentMid: string | undefined): string {
  const offered = new Map(sectionsOf(offer).map((line) => [midOf(line), directionOf(line)]));
  const directed = redirected(answer, (mid) => {
    const answers = mid === agentMid ? AGENT_LINE : OTHER_LINES;
    return answers[offered.get(mid) ?? 'inactive'];
  });
  return withoutGivenUp(offer, directed);
}

const sends = (section: string): boolean => isMedia(section) && /send/.test(directionOf(section));

/** The names of the tracks that a line carries. */
const namesOf = (section: string): string[] =>
  [...section.matchAll(/^a=(?:ssrc:\d+ )?msid:\S+ (\S+)/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== undefined);

/** The names of the tracks that the client sends. */
export const sentTracks = (offer: string): ReadonlySet<string> =>
  new Set(sectionsOf(offer).filter(sends).flatMap(namesOf));

/** The lines on which the client sends sound; one that does not name its track is named by its `mid`. */
export const soundLines = (offer: string): readonly SoundLine[] =>
  sectionsOf(offer)
    .filter((line) => sends(line) && line.startsWith('m=audio ') && !isGivenUp(line))
    .map((line) => ({ mid: midOf(line), name: namesOf(line)[0] ?? `mid ${midOf(line)}` }))
    .filter((line): line is SoundLine => line.mid !== undefined);
