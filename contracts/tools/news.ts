/**
 * Messages that tell a language model about a tool running beside the conversation. The embedded dialogue, which understands no
 * sentences, recognises them here.
 */

/** The immediate answer to the tool's call. */
export const TOOL_RUNS = JSON.stringify({
  status: 'The tool runs. Go on with the conversation: you are told when it answers.',
});

/** The answer to a call whose outcome nobody is told. */
export const TOOL_SENT = JSON.stringify({
  status: 'The request is on its way. Go on with the conversation: you are not told its outcome.',
});

const ANSWERED = ' has answered: ';

/** The tool's answer, once it comes. `args` as the model wrote them. */
export const toolNews = (name: string, args: string, told: string): string =>
  `${name} (${args})${ANSWERED}${told}`;

/** Extracts the answer from such a message; undefined for any other text. */
export function readToolNews(content: string): string | undefined {
  const at = content.indexOf(ANSWERED);
  return at < 0 ? undefined : content.slice(at + ANSWERED.length);
}
