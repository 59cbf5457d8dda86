/** The utterances and tool calls of a played scenario. */
import { lengthText } from '../../format.js';
import { texts } from '../../texts.js';
import type { Heard, Item, WholeResult } from './test-api.js';

const { calls, tests } = texts;

interface Line {
  readonly who: string;
  readonly kind: 'user' | 'agent' | 'tool';
  readonly text: string;
}

const LINES: Readonly<Record<string, (item: Item) => Line>> = {
  message: ({ role, content = '' }) =>
    role === 'user'
      ? { who: calls.speakers.user, kind: 'user', text: content }
      : { who: calls.speakers.agent, kind: 'agent', text: content },
  tool_call: ({ tool_name: tool = '', input = '' }) => ({
    who: calls.speakers.tool,
    kind: 'tool',
    text: `${tool} ${input}`,
  }),
  tool_result: ({ tool_name: tool = '', output = '', error }) => ({
    who: calls.speakers.tool,
    kind: 'tool',
    text: `${tool} → ${error ?? output}`,
  }),
};

const lineOf = (item: Item): readonly Line[] => {
  const line = Object.hasOwn(LINES, item.type) ? LINES[item.type]?.(item) : undefined;
  return line ? [line] : [];
};

/** A line of what the caller meant to say or heard, with its time. */
const heardLine = ({ speaker, text, from_ms: from }: Heard): Line => ({
  who: `${lengthText(from / 1000)} ${speaker === 'caller' ? tests.caller : calls.speakers.agent}`,
  kind: speaker === 'caller' ? 'user' : 'agent',
  text: text || tests.noWords,
});

export function SaidLines({ result: { items, transcript } }: { readonly result: WholeResult }) {
  const lines = transcript.length > 0 ? transcript.map(heardLine) : items.flatMap(lineOf);
  if (lines.length === 0) return <p class="soft">{calls.nothingSaid}</p>;
  return (
    <ol class="lines whole">
      {lines.map(({ who, kind, text }, index) => (
        <li key={index} class={kind}>
          <span class="soft">{who}</span> {text}
        </li>
      ))}
    </ol>
  );
}
