/**
 * Callers for bench/conversation.bench.ts in a process of their own, so that what they cost is not the gateway's: they
 * join, send audio all the time, and count the frames that they hear. One line of JSON in, one out.
 */
import { createInterface } from 'node:readline';
import { Caller, type SessionInvite } from '../test/fixtures/caller.js';

const callers: Caller[] = [];

interface Task {
  readonly join?: SessionInvite;
  /** Asks each third caller's agent to speak. */
  readonly speak?: string;
  readonly leave?: true;
}

async function perform({ join, speak, leave }: Task): Promise<object> {
  if (join) callers.push(await Caller.join(join, { keeps: false }));
  if (speak !== undefined)
    for (const [index, caller] of callers.entries())
      if (index % 3 === 0) caller.send({ type: 'user.message', text: speak });
  const frames = callers.reduce((sum, { heard }) => sum + heard.length, 0);
  const late = callers.reduce((sum, caller) => sum + caller.gaps(60), 0);
  if (leave) for (const caller of callers.splice(0)) caller.hangUp();
  return { frames, late };
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await perform(JSON.parse(line) as Task)));
process.exit(0);
