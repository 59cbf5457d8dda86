/** Both voices on one timeline: when each spoke, what delayed the agent, tools, and interruptions. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { lengthText } from '../../format.js';
import { outline } from '../../sound/peaks.js';
import { texts } from '../../texts.js';
import { momentOf, type Turn } from './record.js';
import type { Side } from './sound.js';

const { calls, talk } = texts;

const WIDTH = 1000;
/** User above, agent below; between them, the parts of the answer's latency. */
const LANE = { user: 0, between: 46, agent: 60 } as const;
const HEIGHT = 106;
const LANE_HEIGHT = 46;

interface Drawn {
  readonly turns: readonly Turn[];
  readonly sides: readonly Side[];
  readonly beginning: number;
  readonly length: number;
}

const PARTS = Object.keys(talk.parts);

/** The parts of an answer's latency, one after the other. */
function Wait({ turn, x }: { readonly turn: Turn; readonly x: (ms: number) => number }) {
  let passed = 0;
  return (
    <>
      {PARTS.map((part) => {
        const ms = turn.latency?.[`${part}_ms`] ?? 0;
        const [from, to] = [x(passed), x((passed += ms))];
        return (
          ms > 0 && (
            <rect
              key={part}
              class={`part-${part}`}
              x={from}
              width={Math.max(1, to - from)}
              y={LANE.between + 3}
              height={8}
            />
          )
        );
      })}
    </>
  );
}

function TurnMarks({
  turn,
  beginning,
  length,
}: { readonly turn: Turn } & Pick<Drawn, 'beginning' | 'length'>) {
  const x = (ms: number) => (momentOf(turn, ms, beginning) / length) * WIDTH;
  if (turn.latency_ms === null) return null;
  const end = turn.ended_ms ?? turn.latency_ms;
  return (
    <g>
      <rect
        class="heard"
        x={x(turn.latency_ms)}
        width={Math.max(1, x(end) - x(turn.latency_ms))}
        y={LANE.agent}
        height={LANE_HEIGHT}
      />
      <Wait turn={turn} x={x} />
      {turn.tools.map(({ call_id: id, started_ms: from, ended_ms: to }) => (
        <rect
          key={id}
          class="part-tools"
          x={x(from)}
          width={Math.max(2, x(to ?? from) - x(from))}
          y={LANE.between + 3}
          height={8}
        />
      ))}
      {turn.interrupted && (
        <rect class="cut" x={x(end) - 1} width={2} y={LANE.between} height={HEIGHT - LANE.between} />
      )}
    </g>
  );
}

const SideWave = ({ side, length }: { readonly side: Side; readonly length: number }) => (
  <path
    class={side.role === 'user' ? 'user' : 'agent'}
    d={outline(side.peaks, {
      left: (side.from / length) * WIDTH,
      width: (side.seconds / length) * WIDTH,
      top: side.role === 'user' ? LANE.user : LANE.agent,
      height: LANE_HEIGHT,
    })}
  />
);

/** Possible steps of the axis, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
/** Most times on the axis: as many as fit on a phone. */
const MOST_TIMES = 6;
/** Beyond this part of the axis, a time would be cut off. */
const LAST_TIME = 0.92;

const Axis = ({ length, zoom }: Pick<Drawn, 'length'> & { readonly zoom: number }) => {
  const step = STEPS.find((each) => length / each <= MOST_TIMES * zoom) ?? length / (MOST_TIMES * zoom);
  return (
    <div class="axis" style={{ width: `${zoom * 100}%` }}>
      {Array.from({ length: Math.ceil((length * LAST_TIME) / step) }, (_, index) => (
        <span key={index} style={{ left: `${((index * step) / length) * 100}%` }}>
          {lengthText(index * step)}
        </span>
      ))}
    </div>
  );
};

/** All but the cursor, which moves often: drawn anew only when the call or its sound has changed. */
const useDrawn = ({ turns, sides, beginning, length }: Drawn) =>
  useMemo(
    () => (
      <>
        {turns.map((turn) => (
          <TurnMarks key={turn.number} turn={turn} beginning={beginning} length={length} />
        ))}
        {sides.map((side) => (
          <SideWave key={side.address} side={side} length={length} />
        ))}
      </>
    ),
    [turns, sides, beginning, length],
  );

const Drawing = ({
  part,
  zoom,
  point,
  ...drawn
}: Drawn & {
  /** The part that has been played, 0 to 1. */
  readonly part: number;
  readonly zoom: number;
  readonly point: (event: MouseEvent) => void;
}) => (
  <svg
    viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    preserveAspectRatio="none"
    style={{ width: `${zoom * 100}%` }}
    onClick={point}
  >
    {useDrawn(drawn)}
    <rect class="now" x={part * WIDTH - 0.5} width={1} y={0} height={HEIGHT} />
  </svg>
);

/** The timeline, on which a pointer seeks; keyboards use the slider below. */
export function Timeline({
  time,
  zoom,
  seek,
  ...drawn
}: Drawn & { readonly time: number; readonly zoom: number; readonly seek: (seconds: number) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const part = time / drawn.length;
  useLayoutEffect(() => {
    const box = frame.current;
    if (!box || zoom === 1) return;
    const at = part * box.scrollWidth;
    if (at < box.scrollLeft || at > box.scrollLeft + box.clientWidth * 0.9)
      box.scrollLeft = at - box.clientWidth * 0.1;
  }, [part, zoom]);
  const point = ({ currentTarget, clientX }: MouseEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    seek(((clientX - left) / width) * drawn.length);
  };
  return (
    <div class="lanes">
      <div class="lane-names" aria-hidden="true">
        <span>{calls.speakers.user}</span>
        <span>{calls.speakers.agent}</span>
      </div>
      <div
        class="timeline"
        ref={frame}
        role="img"
        aria-label={calls.timeline}
        tabIndex={zoom === 1 ? undefined : 0}
      >
        <Drawing {...drawn} part={part} zoom={zoom} point={point} />
        <Axis length={drawn.length} zoom={zoom} />
      </div>
    </div>
  );
}
