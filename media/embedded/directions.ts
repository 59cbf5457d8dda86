/**
 * The directions of the media lines of a session description. A client turns its lines on and off as it publishes,
 * and each answer must follow (RFC 8829, 5.3.1); the WebRTC library keeps for good the direction that a line had
 * first. So it is told that all lines are on, and what the client is answered is written here.
 *
 * Invariant: the agent speaks on one line at most, and only while the client listens there.
 */
import { isMedia, midOf, offersOpus, sectionsOf } from './sdp.js';

type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
type Answers = Readonly<Record<Direction, Direction>>;

const DIRECTION = /^a=(sendrecv|sendonly|recvonly|inactive)\r?$/m;

/** By what is offered. */
const AGENT_LINE: Answers = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};
const OTHER_LINES: Answers = { ...AGENT_LINE, sendrecv: 'recvonly', recvonly: 'inactive' };

/** A line that does not say is for both ways. */
const directionOf = (section: string): Direction => (DIRECTION.exec(section)?.[1] ?? 'sendrecv') as Direction;

const directed = (section: string, direction: Direction): string =>
  DIRECTION.test(section) ? section.replace(DIRECTION, `a=${direction}\r`) : `${section}a=${direction}\r\n`;

/** The lines of media, each in the direction that is asked for it. */
const redirected = (sdp: string, ask: (mid: string | undefined) => Direction): string =>
  sectionsOf(sdp)
    .map((section) => (isMedia(section) ? directed(section, ask(midOf(section))) : section))
    .join('');

/**
 * The line on which the client wants to hear the agent: one on which it only listens, else one on which it speaks as
 * well. Undefined where it does not listen.
 */
export function listeningMid(offer: string): string | undefined {
  const lines = sectionsOf(offer).filter(offersOpus);
  const listens = (direction: Direction) => lines.find((line) => directionOf(line) === direction);
  const line = listens('recvonly') ?? listens('sendrecv');
  return line && midOf(line);
}

/** A line that the client has given up (RFC 8829, 5.2.2): it stays, with port 0. */
const isGivenUp = (section: string): boolean => /^m=\w+ 0 /.test(section) && !/^a=bundle-only/m.test(section);

/** The state of the agent's line: the client listens there, or does not just now, or never will again. */
export function agentLineOf(offer: string, mid: string): 'heard' | 'muted' | 'gone' {
  const line = sectionsOf(offer).find((section) => midOf(section) === mid);
  if (!line || isGivenUp(line)) return 'gone';
  return /^(sendrecv|recvonly)$/.test(directionOf(line)) ? 'heard' : 'muted';
}

/** The offer for the library: the client speaks on all lines, and listens on the agent's. */
export const allOn = (offer: string, agentMid: string | undefined): string =>
  redirected(offer, (mid) => (mid === agentMid ? 'sendrecv' : 'sendonly'));

/** The answer without the lines that the client has given up: the library goes on to offer them. */
function withoutGivenUp(offer: string, answer: string): string {
  const gone = new Set(sectionsOf(offer).filter(isGivenUp).map(midOf));
  const kept = (group: string): string[] => group.split(' ').filter((mid) => !gone.has(mid));
  return sectionsOf(answer)
    .map((section) => (gone.has(midOf(section)) ? section.replace(/^(m=\w+) \d+/, '$1 0') : section))
    .join('')
    .replace(/^a=group:BUNDLE [^\r\n]*/m, (group) => kept(group).join(' '));
}

/** The library's answer for the client, in the directions that its offer asks for. */
export function following(offer: string, answer: string, agentMid: string | undefined): string {
  const offered = new Map(sectionsOf(offer).map((line) => [midOf(line), directionOf(line)]));
  const directed = redirected(answer, (mid) => {
    const answers = mid === agentMid ? AGENT_LINE : OTHER_LINES;
    return answers[offered.get(mid) ?? 'inactive'];
  });
  return withoutGivenUp(offer, directed);
}

/** The names of the tracks that the client sends. */
export function sentTracks(offer: string): ReadonlySet<string> {
  const sending = sectionsOf(offer).filter((line) => isMedia(line) && /send/.test(directionOf(line)));
  const names = sending.flatMap((line) => [...line.matchAll(/^a=msid:\S+ (\S+)/gm)].map(([, name]) => name));
  return new Set(names.filter((name) => name !== undefined));
}
