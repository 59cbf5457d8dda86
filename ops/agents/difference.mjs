/** What files would change at a gateway: item by item, and in each what differs, in words. */
import { NOUNS } from './nouns.mjs';

const isObject = (value) => typeof value === 'object' && value !== null;
const MOST_SHOWN = 60;

const isVoice = (path) => /(^|\.)voice_id$/.test(path);

const inJson = (value) => (value === undefined ? 'nothing' : JSON.stringify(value));

const shown = (value) => {
  const text = inJson(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
};

/** A voice by its title, with the id that stands in files. */
const voiceShown = (id, titles) => (titles.has(id) ? `${inJson(titles.get(id))} (${id})` : inJson(id));

/** Of long texts, the first line that differs. */
function change({ path, from, to }, titles) {
  if (isVoice(path)) return `${voiceShown(from, titles)} → ${voiceShown(to, titles)}`;
  if (typeof from !== 'string' || typeof to !== 'string' || !`${from}${to}`.includes('\n'))
    return `${shown(from)} → ${shown(to)}`;
  const [before, after] = [from.split('\n'), to.split('\n')];
  const line = after.findIndex((text, index) => text !== before[index]);
  const at = line < 0 ? after.length : line;
  return `line ${at + 1}: ${shown(before[at])} → ${shown(after[at])}`;
}

/**
 * What of `wanted` is not so in `current`, as `{ path, from, to }`. A member that a file leaves out stays as it is at the gateway; lists
 * are wanted as a whole.
 */
export function differences(wanted, current, path = '') {
  if (isObject(wanted) && isObject(current) && Array.isArray(wanted) === Array.isArray(current)) {
    if (Array.isArray(wanted) && wanted.length !== current.length)
      return [{ path, from: current, to: wanted }];
    return Object.keys(wanted).flatMap((name) =>
      differences(wanted[name], current[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return Object.is(wanted ?? null, current ?? null) ? [] : [{ path, from: current, to: wanted }];
}

/** `{ kind: 'create' | 'change' | 'remove', item, changes }`, in the order in which they can be made; removals come last, backwards. */
export function planOf(files, remote) {
  const order = Object.keys(NOUNS);
  const place = ({ item: { noun } }) => order.indexOf(noun);
  const made = [...files].flatMap(([key, item]) => {
    const known = remote.get(key);
    if (!known) return [{ kind: 'create', item, changes: [] }];
    const changes = differences(item.value, known.value);
    return changes.length > 0 ? [{ kind: 'change', item, changes }] : [];
  });
  const gone = [...remote]
    .filter(([key]) => !files.has(key))
    .map(([, item]) => ({ kind: 'remove', item, changes: [] }));
  return [
    ...made.sort((one, other) => place(one) - place(other)),
    ...gone.sort((one, other) => place(other) - place(one)),
  ];
}

const SIGNS = { create: '+', change: '~', remove: '-' };

const titleOf = ({ noun, agent, name }) => `${noun}: ${agent === undefined ? '' : `${agent}, `}${name}`;

/** Ids of the voices that a plan changes from or to. */
export const voicesIn = (plan) => [
  ...new Set(
    plan
      .flatMap(({ changes }) => changes)
      .filter(({ path }) => isVoice(path))
      .flatMap(({ from, to }) => [from, to])
      .filter((id) => typeof id === 'string'),
  ),
];

/** The lines of a plan. `titles`: of voices, by their ids. */
export const linesOf = (plan, titles = new Map()) =>
  plan.flatMap(({ kind, item, changes }) => [
    `${SIGNS[kind]} ${titleOf(item)}`,
    ...changes.map((each) => `    ${each.path}: ${change(each, titles)}`),
  ]);
