/**
 * The victim's process (`node victim-process.js BASE KEY`), commanded over IPC by victim.ts. It is one of its own, so that what the
 * attackers do in theirs holds up neither its requests nor its call.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import { Caller, letGo, type SessionInvite } from '../../fixtures/calls/caller.js';
import { until } from '../../fixtures/until.js';
import { type Asked, speak } from './speak.js';
import type { VictimCommand, VictimReport } from './victim.js';

const EVERY_MS = 500;
/** Spoken for minutes. */
const LONG_STORY = 'and then there was another word of it '.repeat(200);

const [base = '', key = ''] = process.argv.slice(2);
const report = (told: VictimReport): void => void process.send?.(told);

/** The call on which its agent talks all the time. */
let call: Caller | undefined;

async function beginCall(): Promise<void> {
  const ask = client(base, key);
  const prompt = { first_message_mode: 'fixed', first_message: LONG_STORY };
  const agent = await makeAgent(ask, { config: { prompt } });
  const { body } = await ask('sessions', { body: { agent_id: agent } });
  const caller = await Caller.join(body as unknown as SessionInvite);
  await until('the agent talks', () => caller.heard.length > 0);
  call = caller;
}

/** The longest time without sound since `from`, in ms; 0 without a call. */
function gapSince(from: number): number {
  if (call === undefined) return 0;
  const heard = call.heard.map(({ at }) => at).filter((at) => at >= from);
  const times = [from, ...heard, performance.now()];
  return Math.max(...times.map((at, index) => at - (times[index - 1] ?? at)));
}

/** Asks until it is told to rest. */
function asking(): () => Promise<VictimReport> {
  const from = performance.now();
  const asked: Promise<Asked>[] = [];
  const rest = new AbortController();
  const done = (async () => {
    do {
      asked.push(speak(base, key));
      await pause(EVERY_MS, undefined, { signal: rest.signal }).catch(() => undefined);
    } while (!rest.signal.aborted);
  })();
  return async () => {
    const gapMs = gapSince(from);
    rest.abort();
    await done;
    return { asked: await Promise.all(asked), gapMs, isOver: call?.ended === true };
  };
}

let rest: (() => Promise<VictimReport>) | undefined;

const COMMANDS: Readonly<Record<VictimCommand, () => Promise<void>>> = {
  async call() {
    await beginCall();
    report({ asked: [], gapMs: 0, isOver: false });
  },
  async ask() {
    rest = asking();
  },
  async rest() {
    if (rest) report(await rest());
  },
  async hangUp() {
    call?.hangUp();
    call = undefined;
  },
};

process.on('message', (command: VictimCommand) => void COMMANDS[command]());
process.on('disconnect', () => {
  call?.hangUp();
  letGo();
  process.exit(0);
});
