/**
 * Promises of a conversation's host (gateway/agents/conversations/conversation.ts) in any order of events, whatever model, voice,
 * recogniser, tools and client do: random walks, each with its own seed.
 */
import t from '../../../../fixtures/tap.js';
import { ConversationWalk } from '../../../../fixtures/conversation/walk.js';
import { shortOrLong } from '../../../../fixtures/long.js';

const WALKS = shortOrLong(25, 10_000);
const STEPS = 60;
/** Most broken walks that a failure shows. */
const SHOWN = 3;

/** A tool of each kind: webhooks within an answer and beside it, of an MCP server, of the client, of the gateway. */
const KINDS = [
  ...['look', 'beside', 'book', 'order', 'mail', 'ask_client'],
  ...['hang_up_call', 'send_digits', 'transfer_to_agent', 'transfer_call'],
];

t.setTimeout(shortOrLong(240_000, 3_600_000));

t.test(
  'in any order of events: what was said and typed is in the record once, each call of a tool has one answer, ' +
    'what is asked is answered, and the end comes once; no tool with an effect begins over the user, is cut off or done twice, ' +
    'and each result reaches the model, or the record as one that may have happened',
  async (t) => {
    const broken: string[] = [];
    const seen: Record<string, number> = {};
    const called = new Set<string>();
    for (let seed = 1; seed <= WALKS && broken.length < SHOWN; seed += 1) {
      const walk = await new ConversationWalk(seed).run(STEPS);
      broken.push(...walk.broken.map((what) => `seed ${seed}: ${what}`));
      for (const item of walk.items) {
        const what = item.type === 'message' ? `message of the ${item.role}` : item.type;
        seen[what] = (seen[what] ?? 0) + 1;
        if (item.type === 'tool_call') called.add(item.toolName);
      }
    }
    t.same(broken.slice(0, SHOWN), []);
    for (const kind of KINDS) t.ok(called.has(kind), `${kind} was called`);
    for (const [what, times] of Object.entries(seen)) t.ok(times > WALKS, `${what}: ${times}`);
  },
);
