/**
 * docs/statecharts.md: a diagram of each statechart, made from the built machine itself. Arrows are changes of state; what a
 * state answers without leaving it stands in the table below its diagram.
 */
import { built } from './command.mjs';

export const PAGE = 'docs/statecharts.md';

/** Title, file below actors/, and name of the export. */
const MACHINES = [
  ['Agent: one conversation', 'agent/agent', 'agentMachine'],
  ['Whether a client comes to the call that its token began', 'claim', 'claim'],
  ['One client’s connection to a call', 'connection', 'connection'],
  ['Realtime session of protocol A', 'realtime', 'realtime'],
  ['Speech socket of protocol B', 'stream-input-socket', 'speechSocket'],
  ['One context of a speech socket', 'stream-input', 'streamInput'],
  ['Realtime transcription of protocol B', 'transcription-session', 'transcriptionSession'],
  ['Live text of the native API', 'native-live', 'nativeLive'],
];

const idOf = (node) => (node.path.length === 0 ? 'root' : node.path.join('_').replace(/\W/g, '_'));

const JOINED = { and: ' and ', or: ' or ' };

const nameOfParam = (param) => (typeof param === 'object' ? Object.values(param).join(' ') : param);

/** A guard by its name; `and`, `or` and `not` by those of the guards in them. */
function nameOfGuard(guard) {
  if (guard === undefined) return '';
  if (typeof guard === 'string') return guard;
  if (guard.guards) {
    const names = guard.guards.map(nameOfGuard);
    return guard.name === 'not' ? `not ${names[0]}` : names.join(JOINED[guard.name]);
  }
  if (typeof guard === 'function') return 'if';
  const params =
    guard.params === undefined || typeof guard.params === 'function'
      ? ''
      : ` ${[guard.params].flat().map(nameOfParam).join(' or ')}`;
  return `${guard.type ?? 'if'}${params}`;
}

/** `xstate.after.hold.talking` is the time `hold`; the empty event is a transition that is taken at once. */
function nameOfEvent(event) {
  const [, delay] = /^xstate\.after\.([^.]+)\./.exec(event) ?? [];
  if (delay) return `after ${delay}`;
  if (event.startsWith('xstate.')) return event.split('.')[1];
  return event === '' ? 'at once' : event;
}

const labelOf = ({ eventType, guard }) => {
  const condition = nameOfGuard(guard);
  return nameOfEvent(eventType) + (condition && ` [${condition}]`);
};

const transitionsOf = (node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
const childrenOf = (node) => Object.values(node.states);
const nodesOf = (node) => [node, ...childrenOf(node).flatMap(nodesOf)];

/** The states inside of a node, with their names; regions of a parallel one are parted by `--`. */
function inside(node, indent) {
  const children = childrenOf(node);
  const blocks = children.map((child) => {
    const initial = initialOf(child);
    const name = `${indent}state "${child.key}" as ${idOf(child)}`;
    if (childrenOf(child).length === 0) return [name];
    return [
      `${name} {`,
      ...(initial ? [`${indent}  [*] --> ${initial}`] : []),
      ...inside(child, `${indent}  `),
      `${indent}}`,
    ];
  });
  return blocks.flatMap((block, at) =>
    node.type === 'parallel' && at > 0 ? [`${indent}--`, ...block] : block,
  );
}

const initialOf = (node) => (node.type === 'compound' ? idOf(node.initial.target[0]) : undefined);

/** One arrow for each pair of states, with all that leads from the one to the other. */
function arrows(root) {
  const found = new Map();
  for (const node of nodesOf(root))
    for (const transition of transitionsOf(node))
      for (const target of transition.target ?? []) {
        if (node === root) continue;
        const pair = `${idOf(node)} --> ${idOf(target)}`;
        found.set(pair, [...(found.get(pair) ?? []), labelOf(transition)]);
      }
  return [...found].map(([pair, labels]) => `  ${pair}: ${[...new Set(labels)].join(', ')}`);
}

const FINAL = (node) => (node.type === 'final' ? [`  ${idOf(node)} --> [*]`] : []);

function diagram(root) {
  const initial = initialOf(root);
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...(initial ? [`  [*] --> ${initial}`] : []),
    ...inside(root, '  '),
    ...arrows(root),
    ...nodesOf(root).flatMap(FINAL),
    '```',
  ];
}

const cell = (text) => text.replaceAll('|', '\\|');

/** The events that each state answers without leaving it; and those that the machine answers in any state. */
function answers(root) {
  const rows = nodesOf(root).map((node) => {
    const kept = transitionsOf(node).filter(({ target }) => node === root || !target?.length);
    const labels = kept.map((transition) => {
      const to = transition.target?.length
        ? ` → ${transition.target.map((target) => target.key).join(', ')}`
        : '';
      return labelOf(transition) + to;
    });
    return [node === root ? 'any state' : node.path.join('.'), [...new Set(labels)].join(', ')];
  });
  const told = rows.filter(([, labels]) => labels !== '');
  if (told.length === 0) return [];
  return [
    '',
    '| state | also answers |',
    '| --- | --- |',
    ...told.map(([state, labels]) => `| ${state} | ${cell(labels)} |`),
  ];
}

async function section([title, file, name]) {
  const { [name]: machine } = await import(built('dist', 'actors', ...`${file}.js`.split('/')));
  return [
    `## ${title}`,
    '',
    `\`actors/${file}.ts\``,
    '',
    ...diagram(machine.root),
    ...answers(machine.root),
    '',
  ];
}

export async function generateStatecharts() {
  const sections = [];
  for (const row of MACHINES) sections.push(...(await section(row)));
  return [
    '<!-- Made by npm run generate from the machines in actors/. -->',
    '',
    '# Statecharts',
    '',
    'An arrow is a change of state, with the events that cause it and, in brackets, the condition. `after hold` is a time of',
    'the machine; `at once` needs no event.',
    '',
    ...sections,
  ].join('\n');
}
