/**
 * docs/statecharts.md: a diagram of each statechart and of each lifecycle of rows, made from what is built. Arrows are changes of
 * state; what a state answers without leaving it stands in the table below its diagram.
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

/** Title, file below contracts/, and name of the export. */
const LIFECYCLES = [
  ['Session', 'sessions/session-states', 'SESSION'],
  ['Test run', 'agents/test-run-states', 'TEST_RUN'],
  ['One scenario of a test run', 'agents/test-run-states', 'PLAYED_SCENARIO'],
  ['Delivery of a post-call event', 'sessions/delivery-states', 'DELIVERY'],
  ['Placed call', 'phone/placed-states', 'PLACED_CALL'],
  ['Cold transfer of a phone call', 'phone/transfer-states', 'COLD_TRANSFER'],
  ['Warm transfer of a phone call', 'phone/transfer-states', 'WARM_TRANSFER'],
  ['Transfer of a SIP call', 'phone/transfer-states', 'REFERRED_TRANSFER'],
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

/** The reports that do something in a state, with their effects after a slash; `to`: the next state, undefined if it stays. */
const stepsOf = (steps) =>
  Object.entries(steps).map(([report, { to, effects }]) => ({
    to,
    label: [report, effects.join(' and ')].filter(Boolean).join(' / '),
  }));

/** The states that the row can be in, the first one included. */
const reachedStates = (lifecycle) =>
  Object.keys(lifecycle).filter(
    (state, at, states) =>
      at === 0 || states.some((other) => stepsOf(lifecycle[other]).some(({ to }) => to === state)),
  );

/** One arrow for each pair of states of a lifecycle; the last ones end. */
function rowArrows(lifecycle, state) {
  const steps = stepsOf(lifecycle[state]).filter(({ to }) => to !== undefined);
  const nexts = [...new Set(steps.map(({ to }) => to))];
  if (nexts.length === 0) return [`  ${state} --> [*]`];
  return nexts.map((next) => {
    const labels = steps.filter(({ to }) => to === next).map(({ label }) => label);
    return `  ${state} --> ${next}: ${labels.join(', ')}`;
  });
}

/** What is answered without a change of state; states that answer alike share a row. */
function rowAnswers(lifecycle) {
  const rows = new Map();
  for (const state of reachedStates(lifecycle)) {
    const kept = stepsOf(lifecycle[state]).filter(({ to }) => to === undefined);
    const labels = kept.map(({ label }) => label).join(', ');
    if (labels !== '') rows.set(labels, [...(rows.get(labels) ?? []), state]);
  }
  if (rows.size === 0) return [];
  const lines = [...rows].map(([labels, states]) => `| ${states.join(', ')} | ${cell(labels)} |`);
  return ['', '| state | also answers |', '| --- | --- |', ...lines];
}

function rowDiagram(lifecycle) {
  const states = reachedStates(lifecycle);
  const arrowLines = states.flatMap((state) => rowArrows(lifecycle, state));
  return [
    ...['```mermaid', 'stateDiagram-v2', `  [*] --> ${states[0]}`, ...arrowLines, '```'],
    ...rowAnswers(lifecycle),
  ];
}

async function rowSection([title, file, name]) {
  const { [name]: lifecycle } = await import(built('dist', 'contracts', ...`${file}.js`.split('/')));
  return [`## ${title}`, '', `\`contracts/${file}.ts\``, '', ...rowDiagram(lifecycle), ''];
}

export async function generateStatecharts() {
  const sections = [];
  for (const row of MACHINES) sections.push(...(await section(row)));
  const lifecycles = [];
  for (const row of LIFECYCLES) lifecycles.push(...(await rowSection(row)));
  return [
    '<!-- Made by npm run generate from the machines in actors/ and the lifecycles in contracts/. -->',
    '',
    '# Statecharts',
    '',
    'An arrow is a change of state, with the events that cause it and, in brackets, the condition.',
    '`after hold` is a time of the machine; `at once` needs no event.',
    '',
    ...sections,
    '# Lifecycles of rows',
    '',
    'What is kept in the database, where any process may change it. An arrow has the reports that cause',
    'the change and, after a slash, what the process does whose statement has written it.',
    '',
    ...lifecycles,
  ].join('\n');
}
