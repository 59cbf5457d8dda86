/** Calls of one agent: they are invited, joined, and talk. */
import { levelled, RATE } from '../audio/level.js';
import { PAUSES, pausing, type Step } from '../calls/dialogue.js';
import { encodeUtterance } from '../calls/utterance.js';
import type { Generator } from '../generator/generator.js';
import type { Phase } from '../measure/phase.js';
import type { CallsTask, Recorded } from '../programs/calls.js';
import { randomFrom } from '../random.js';
import { type Invite, makeAgent, makeSession, NO_FILLERS } from '../servers/agents.js';
import type { Environment } from '../servers/checkout.js';
import { startModel } from '../servers/model.js';
import { authorizationOf, type Server } from '../servers/server.js';
import { askAgain } from '../servers/shed.js';
import type { Context } from './context.js';

/** Settings of a gateway whose agents think with a model whose first token takes so many milliseconds. */
export async function callEnvironment(context: Context, firstTokenMs = 0): Promise<Environment> {
  const model = context.own(await startModel(firstTokenMs));
  return { LLM_BASE_URL: model.url };
}

/** As agents are told it: how soon they take a silence for the end of a turn. */
export type Eagerness = 'eager' | 'balanced';

/** Invites another caller. */
export type Inviting = () => Promise<Invite>;

/** To an agent that waits to be spoken to, and lets itself be interrupted. */
export async function makeListener(server: Server, eagerness: Eagerness = 'balanced'): Promise<Inviting> {
  const agent = await makeAgent(server, 'Bench', {
    prompt: { first_message_mode: 'off' },
    conversation: { eagerness, interruption_sensitivity: 'balanced' },
    tools: NO_FILLERS,
  });
  return () => makeSession(server, agent);
}

/** Origin of clips in the server's own voice, for reports. */
const SYNTHETIC = { origin: 'synthetic', source: 'the server’s own voice' } as const;

/** Records the text in the server's own voice, at that rate in Hz. */
export const record = (server: Server, text: string, rate = RATE): Promise<Recorded> =>
  askAgain(() => recordOnce(server, text, rate));

async function recordOnce(server: Server, text: string, rate: number): Promise<Recorded> {
  const answer = await fetch(`${server.origin}/v1/tts`, {
    method: 'POST',
    headers: { ...authorizationOf(server), 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'pcm', sample_rate: rate }),
  });
  if (!answer.ok) throw new Error(`speech was refused with HTTP ${answer.status}`);
  const pcm = levelled(new Int16Array(await answer.arrayBuffer()));
  return { pcm, text, ...SYNTHETIC };
}

const COUGH_MS = 300;

/** A burst of noise that dies away. */
function cough(): Recorded {
  const random = randomFrom(1);
  const count = (RATE * COUGH_MS) / 1000;
  const samples = Int16Array.from(
    { length: count },
    (_, index) => (random() - 0.5) * 24_000 * (1 - index / count),
  );
  const pcm = new Uint8Array(samples.buffer);
  return { pcm, text: '', ...SYNTHETIC, source: 'noise' };
}

/** Somebody else in the room: so much quieter than the caller, in dB. */
const OTHERS_DB = -15;

export function fromAfar({ pcm, ...what }: Recorded): Recorded {
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
  return { ...what, pcm: new Uint8Array(samples.map((sample) => sample * 10 ** (OTHERS_DB / 20)).buffer) };
}

/** Texts by name; of their variants each round takes one. */
export type Texts = Readonly<Record<string, readonly string[]>>;
export type Recordings = Readonly<Record<string, readonly Recorded[]>>;

/** Without that before and behind it. */
function withoutSilence(bytes: Uint8Array): Uint8Array {
  const { pcm, from, to } = encodeUtterance(Buffer.from(bytes));
  const byteAt = (ms: number): number => Math.round((RATE * ms) / 1000) * 2;
  return pcm.subarray(byteAt(from), byteAt(to));
}

/** A sentence whose halves are parted by `|`, with a pause there. */
async function recordPaused(server: Server, text: string, ms: number): Promise<Recorded> {
  const halves: Uint8Array[] = [];
  for (const half of text.split('|')) halves.push(withoutSilence((await record(server, half)).pcm));
  const silence = new Uint8Array((RATE * ms * 2) / 1000);
  const [first = silence, second = silence] = halves;
  const pcm = Buffer.concat([first, silence, second]);
  return { pcm, text: text.replace('|', ''), ...SYNTHETIC };
}

export async function recordAll(
  server: Server,
  texts: Texts,
  paused: readonly string[] = [],
): Promise<Recordings> {
  const recorded: Record<string, Recorded[]> = { cough: [cough()] };
  for (const [name, variants] of Object.entries(texts))
    recorded[name] = await Promise.all(variants.map((text) => record(server, text)));
  if (recorded['others']) recorded['others'] = recorded['others'].map(fromAfar);
  for (const ms of paused.length === 0 ? [] : PAUSES)
    recorded[pausing(ms)] = await Promise.all(paused.map((text) => recordPaused(server, text, ms)));
  return recorded;
}

/** Callers of one agent, in a generator of their own. */
export class Callers {
  readonly #generator: Generator;

  constructor(
    private readonly context: Context,
    private readonly server: Pick<Server, 'name' | 'pid'>,
    private readonly invite: Inviting,
  ) {
    this.#generator = context.anotherGenerator();
  }

  async join(calls: number, atOnce: number): Promise<Phase> {
    const invites: Invite[] = [];
    for (let call = 0; call < calls; call += 1) invites.push(await this.invite());
    return this.#do(`${calls} callers join`, { join: { invites, atOnce } });
  }

  converse(what: string, steps: readonly Step[], rounds: number, recorded: Recordings): Promise<Phase> {
    const { recordings: folder } = this.context.options;
    const recordings = folder === undefined ? undefined : { folder, name: what.replace(/\W+/g, '-') };
    return this.#do(what, { converse: { steps, rounds, recorded, recordings } });
  }

  leave(): Promise<Phase> {
    return this.#do('callers leave', { leave: true });
  }

  /** They leave without a word. */
  stop(): Promise<void> {
    return this.#generator.stop();
  }

  #do(what: string, params: CallsTask): Promise<Phase> {
    return this.context.drive(this.server, what, this.#generator, { program: 'calls', params });
  }
}
