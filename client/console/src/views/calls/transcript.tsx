/** The transcript of a call with its tool calls; each line seeks to its moment, and the line being heard is marked. */
import { useEffect, useRef } from 'preact/hooks';
import { lengthText, msText } from '../../format.js';
import { Split } from '../../parts/split.js';
import { linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { type EndpointError, type Entry, type Message, partsOf, type Turn, type ToolCall } from './record.js';

const { calls } = texts;

const MARKS = ['backchannel', 'background', 'echo', 'filler'] as const;

const Answer = ({ turn, most }: { readonly turn: Turn; readonly most: number }) => (
  <div class="answer">
    <span class="tag">{msText(turn.latency_ms)}</span>
    {!turn.complete && (
      <span class="tag bad">{turn.interrupted ? calls.cutOff(turn.interrupted.by) : calls.notWhole}</span>
    )}
    {turn.latency && (
      <details>
        <summary>{calls.where}</summary>
        <Split latency={partsOf(turn.latency)} most={most} />
      </details>
    )}
    {turn.passages.length > 0 && (
      <details>
        <summary>{calls.knew}</summary>
        <ul>
          {turn.passages.map(({ knowledge_source_id: id, name, found_by: by }, index) => (
            <li key={index}>
              <a href={linkTo(['knowledge', id])}>{name}</a>{' '}
              <span class="soft">{texts.knowledge.search.foundBy[by]}</span>
            </li>
          ))}
        </ul>
      </details>
    )}
  </div>
);

const Said = ({
  item,
  turn,
  most,
}: {
  readonly item: Message;
  readonly turn: Turn | undefined;
  readonly most: number;
}) => (
  <>
    <p class="words">
      {item.content}
      {turn && !turn.complete && (
        <span class="cut-mark" aria-hidden="true">
          {' —'}
        </span>
      )}
    </p>
    {MARKS.filter((mark) => item[mark]).map((mark) => (
      <span key={mark} class="tag">
        {calls.marks[mark]}
      </span>
    ))}
    {item.error && <p class="problem">{calls.failures[item.error] ?? item.error}</p>}
    {turn && <Answer turn={turn} most={most} />}
  </>
);

const Done = ({ item, result }: Pick<Entry, 'result'> & { readonly item: ToolCall }) => (
  <details>
    <summary>
      <code>{item.tool_name}</code>{' '}
      <span class={`tag ${result?.status === 'failed' ? 'bad' : ''}`}>
        {result
          ? `${calls.toolStates[result.status] ?? result.status}, ${msText(result.latency_ms)}`
          : calls.noResult}
      </span>
    </summary>
    <pre>{item.input}</pre>
    {result && <pre>{result.error ?? result.output}</pre>}
  </details>
);

const EndpointFailure = ({ item }: { readonly item: EndpointError }) => (
  <p class="problem">
    {calls.endpointFailed(item.model, item.host, calls.outcomes[item.error] ?? item.error, item.status_code)}
    {item.retried && ` ${calls.askedAgain}`}
  </p>
);

const What = ({ item, turn, result, most }: Entry & { readonly most: number }) => {
  if (item.type === 'message') return <Said item={item} turn={turn} most={most} />;
  if (item.type === 'llm.endpoint_error') return <EndpointFailure item={item} />;
  return <Done item={item} result={result} />;
};

const speakerOf = ({ item }: Entry): string => {
  if (item.type === 'tool_call') return calls.speakers.tool;
  if (item.type === 'llm.endpoint_error') return calls.speakers.model;
  return item.role === 'user' ? calls.speakers.user : calls.speakers.agent;
};

const Line = ({
  entry,
  most,
  seek,
}: {
  readonly entry: Entry;
  readonly most: number;
  readonly seek: (seconds: number) => void;
}) => (
  <>
    <button
      class="at"
      type="button"
      onClick={() => seek(entry.at)}
      aria-label={calls.playFrom(lengthText(entry.at))}
    >
      {lengthText(entry.at)}
    </button>
    <span class="who">{speakerOf(entry)}</span>
    <div class="what">
      <What {...entry} most={most} />
    </div>
  </>
);

export function Transcript({
  entries,
  current,
  follow,
  seek,
}: {
  readonly entries: readonly Entry[];
  readonly current: Entry | undefined;
  /** Whether the marked line is kept in view. */
  readonly follow: boolean;
  readonly seek: (seconds: number) => void;
}) {
  const most = Math.max(0, ...entries.map(({ turn }) => turn?.latency_ms ?? 0));
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (follow) list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current?.key, follow]);
  return (
    <ol class="transcript" ref={list} tabIndex={0} aria-label={calls.transcript}>
      {entries.map((entry) => (
        <li
          key={entry.key}
          class={entry.item.type === 'message' ? entry.item.role : 'tool'}
          aria-current={entry === current ? 'time' : undefined}
        >
          <Line entry={entry} most={most} seek={seek} />
        </li>
      ))}
    </ol>
  );
}
