/** The last hour of the machine that answers: latency, load, refusals and failures. */
import { useEffect } from 'preact/hooks';
import { ask } from '../../api.js';
import { msText } from '../../format.js';
import { type Loaded, useLoad } from '../../hooks.js';
import { Failure } from '../../parts/basics.js';
import { Plot } from '../../parts/plot.js';
import { texts } from '../../texts.js';
import { Table } from './table.js';

const { machine } = texts;

interface Latency {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

interface Minute {
  readonly at: string;
  readonly replies: number;
  readonly refused: number;
  readonly failed: number;
  readonly first_byte: Latency;
  readonly turn: Latency;
}

export interface Hour {
  readonly processes: number;
  readonly minutes: readonly Minute[];
  readonly errors: readonly {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly count: number;
  }[];
}

/** Status of requests whose client left before the answer, as this page does whenever the user leaves a view: no failure. */
export const GONE = '499';

const EVERY_MS = 15_000;

const LatencyPlot = ({
  title,
  minutes,
  of,
}: {
  readonly title: string;
  readonly minutes: readonly Minute[];
  readonly of: 'first_byte' | 'turn';
}) => (
  <Plot
    title={title}
    at={minutes.map(({ at }) => at)}
    series={[
      { name: machine.half, values: minutes.map((minute) => minute[of].p50_ms) },
      { name: machine.most, values: minutes.map((minute) => minute[of].p95_ms) },
    ]}
    text={msText}
  />
);

const Plots = ({ minutes }: { readonly minutes: readonly Minute[] }) => (
  <div class="columns two">
    <LatencyPlot title={machine.firstByte} minutes={minutes} of="first_byte" />
    <LatencyPlot title={machine.turns} minutes={minutes} of="turn" />
    <Plot
      title={machine.replies}
      at={minutes.map(({ at }) => at)}
      series={[{ name: machine.answered, values: minutes.map(({ replies }) => replies) }]}
      text={String}
    />
    <Plot
      title={machine.wrong}
      at={minutes.map(({ at }) => at)}
      series={[
        { name: machine.refused, values: minutes.map(({ refused }) => refused) },
        { name: machine.failed, values: minutes.map(({ failed }) => failed) },
      ]}
      text={String}
    />
  </div>
);

export function useHour(): Loaded<Hour> {
  const loaded = useLoad((signal) => ask<Hour>('v1/machine/history', { signal }), []);
  const { busy, reload } = loaded;
  useEffect(() => {
    if (busy) return;
    const timer = setTimeout(reload, EVERY_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  return loaded;
}

export const LastHour = ({ hour: { data, error, reload } }: { readonly hour: Loaded<Hour> }) => (
  <>
    <h2>{machine.hour}</h2>
    <Failure error={error} retry={reload} />
    {data && (
      <>
        <Plots minutes={data.minutes} />
        <Table
          title={machine.errors}
          heads={machine.errorHeads}
          rows={data.errors
            .filter(({ status }) => String(status) !== GONE)
            .map(({ method, route, status, count }) => [`${method} ${route}`, status, count])}
        />
      </>
    )}
  </>
);
