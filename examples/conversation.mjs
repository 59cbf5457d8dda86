/** A conversation in writing with an agent: the same prompt, tools and knowledge as in a call, without audio. */
import { load, stop } from './gateway.mjs';
import { makeSession } from './agents.mjs';

const PATIENCE_MS = 60_000;

/** Prints what happens. A tool or another agent puts the answer off. */
function narrate(session, answer) {
  session.on('toolCallStarted', ({ toolName, input }) => {
    answer.complete = false;
    console.log(`tool: ${toolName} ${input}`);
  });
  session.on('agentChange', ({ agentName }) => {
    answer.complete = false;
    console.log(`now with: ${agentName}`);
  });
  session.on('agentResponse', ({ text }) => {
    answer.complete = true;
    console.log(`agent: ${text}`);
    answer.look();
  });
  session.on('turnCompleted', () => {
    answer.turns += 1;
    answer.look();
  });
  session.on('error', (error) => console.error(`error: ${error.message}`));
}

/** The answer to one line: the agent's words after its last tool, and the end of its turn. */
function awaited(answer) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => stop('The agent did not answer within a minute.'), PATIENCE_MS);
    Object.assign(answer, { complete: false, turns: 0 });
    answer.look = () => {
      if (!answer.complete || answer.turns === 0) return;
      clearTimeout(timer);
      resolve();
    };
  });
}

/** Says the lines to the agent one after another, and prints tools and answers. */
export async function converse(agentId, lines) {
  // The client library prints what it does otherwise.
  process.env.NODE_ENV ??= 'production';
  const { dispose, Room } = await load('@livekit/rtc-node');
  const { AgentSession } = await load('../client/dist/index.js');
  const session = new AgentSession({ room: new Room(), session: await makeSession(agentId) });
  const answer = { complete: false, turns: 0, look: () => undefined };
  narrate(session, answer);
  await session.start();
  for (const line of lines) {
    console.log(`you: ${line}`);
    const answered = awaited(answer);
    await session.sendText(line, { audio: false });
    await answered;
  }
  await session.end();
  await dispose();
}
