/**
 * How a language model is told of a tool that runs beside the conversation. The embedded dialogue, which understands no
 * sentences, knows them by this.
 */

/** The answer to its call, at once. */
export const TOOL_RUNS = JSON.stringify({
  status: 'The tool runs. Go on with the conversation: you are told when it answers.',
});

const ANSWERED = ' has answered: ';

/** What it has answered, later. `args` as the model wrote them. */
export const toolNews = (name: string, args: string, told: string): string =>
  `${name} (${args})${ANSWERED}${told}`;

/** The answer in it; undefined where it is none. */
export function readToolNews(content: string): string | undefined {
  const at = content.indexOf(ANSWERED);
  return at < 0 ? undefined : content.slice(at + ANSWERED.length);
}
