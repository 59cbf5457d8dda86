/**
 * What fails, hangs or behaves oddly around a conversation, as a table: how it is made and mended, for one call or for all. What must be
 * heard, recorded and logged then is apart (rows.ts), so that other runs use the same faults.
 */
import type { Relay } from '../../fixtures/database/relay.js';
import type { Doubles } from './doubles/doubles.js';
import type { McpFault } from './doubles/mcp.js';
import type { ModelFault } from './doubles/model.js';
import type { SpeechFault } from './doubles/speech.js';
import type { Switch } from './doubles/switch.js';
import type { ToolFault } from './doubles/tools.js';

export interface Surroundings extends Doubles {
  /** Between the gateway and its database. */
  readonly database: Pick<Relay, 'away' | 'open'>;
  /** The numbers of the gateway's child processes of a role. */
  processes(role: string): readonly number[];
}

type Part = 'model' | 'voice' | 'recogniser' | 'tool' | 'mcp' | 'database' | 'media';

export interface Fault {
  readonly name: string;
  readonly part: Part;
  /** How else than by its part the log names it. */
  readonly named?: RegExp;
  /** Whether it is everybody's, whatever call is named. */
  readonly global?: boolean;
  /** `call`: whose requests fail; absent: everybody's. */
  make(around: Surroundings, call?: string): void | Promise<void>;
  mend(around: Surroundings, call?: string): void | Promise<void>;
}

/** A fault that a double's switch makes. */
const switched = <F extends string>(
  part: Part,
  name: string,
  fault: F,
  switchOf: (around: Surroundings) => Switch<F>,
): Fault => ({
  name,
  part,
  make: (around, call) => switchOf(around).set(fault, call),
  mend: (around, call) => switchOf(around).clear(call),
});

const MODEL: Readonly<Record<string, ModelFault>> = {
  'closes connections': 'drops',
  'refuses the key': '401',
  'answers 500': '500',
  hangs: 'hangs',
  'stalls in mid-sentence': 'stalls',
  'thinks for ever': 'thinks',
  'sends blank lines': 'blank lines',
  'writes tools as text': 'tools as text',
  'outgrows its window': 'small window',
  'answers nothing': 'empty',
  'is cut by length': 'length',
  'is cut by a content filter': 'content filter',
  'ends without an end': 'unfinished',
};
const SPEECH: Readonly<Record<string, SpeechFault>> = {
  'closes connections': 'drops',
  'refuses the key': '401',
  'answers 500': '500',
  hangs: 'hangs',
  'answers nothing': 'empty',
  'stops in the middle': 'stops',
  'breaks off in the middle': 'breaks',
};
const TOOL: Readonly<Record<string, ToolFault>> = {
  'closes connections': 'drops',
  hangs: 'hangs',
  'answers 500': '500',
  'answers megabytes': 'huge',
  'is slow': 'slow',
};
const MCP: Readonly<Record<string, McpFault>> = {
  hangs: 'hangs',
  'answers 500': '500',
  'has a dead stream': 'dead stream',
  'has a lost stream': 'lost stream',
};

const each = <F extends string>(
  part: Part,
  kinds: Readonly<Record<string, F>>,
  switchOf: (around: Surroundings) => Switch<F>,
  who: string = part,
): readonly Fault[] =>
  Object.entries(kinds).map(([name, fault]) => switched(part, `${who} ${name}`, fault, switchOf));

/** Of a child process: it is stopped until it is replaced, or killed. */
const signalled = (part: Part, name: string, role: string, signal: NodeJS.Signals): Fault => ({
  ...{ name, part, global: true, named: new RegExp(`"${role}"`) },
  make: ({ processes }) => {
    for (const pid of processes(role)) process.kill(pid, signal);
  },
  mend: () => undefined,
});

export const FAULTS: readonly Fault[] = [
  {
    name: 'model refuses connections',
    part: 'model',
    global: true,
    make: ({ model }) => model.away(),
    mend: ({ model }) => model.back(),
  },
  ...each('model', MODEL, ({ model }) => model.faults),
  ...each('model', MODEL, ({ fallback }) => fallback.faults, 'second model'),
  ...each('voice', SPEECH, ({ speech }) => speech.voice),
  ...each('voice', SPEECH, ({ otherSpeech }) => otherSpeech.voice, 'second voice'),
  ...each('recogniser', SPEECH, ({ speech }) => speech.recogniser),
  ...each('recogniser', SPEECH, ({ otherSpeech }) => otherSpeech.recogniser, 'second recogniser'),
  ...each('tool', TOOL, ({ tools }) => tools.faults),
  ...each('mcp', MCP, ({ mcp }) => mcp.faults),
  {
    name: 'mcp is started again',
    part: 'mcp',
    make: ({ mcp }, call) => mcp.restart(call),
    mend: () => undefined,
  },
  {
    name: 'mcp changes its tools',
    part: 'mcp',
    make: ({ mcp }, call) => mcp.change(call),
    mend: () => undefined,
  },
  signalled('voice', 'process that speaks is frozen', 'tts', 'SIGSTOP'),
  signalled('voice', 'process that speaks dies', 'tts', 'SIGKILL'),
  signalled('recogniser', 'process that recognises is frozen', 'stt', 'SIGSTOP'),
  signalled('recogniser', 'process that recognises dies', 'stt', 'SIGKILL'),
  signalled('media', 'media process dies', 'media', 'SIGKILL'),
  {
    name: 'database is away',
    part: 'database',
    named: /database/i,
    global: true,
    make: ({ database }) => database.away(),
    mend: ({ database }) => database.open(),
  },
];

/** Errors: an `Error` if there is none of that name. */
export function faultOf(name: string): Fault {
  const fault = FAULTS.find((each) => each.name === name);
  if (!fault) throw new Error(`no fault "${name}"`);
  return fault;
}
