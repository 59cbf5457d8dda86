/** Health of the gateways: nodes, current work, workers, latency and failures. */
import { useEffect, useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask, request } from '../../api.js';
import { momentText, numberText, placesText } from '../../format.js';
import { type Loaded, useLoad } from '../../hooks.js';
import { Failure, FigureList, Loading, Page } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import { GONE, LastHour, useHour } from './hour.js';
import { type Figures, quantile, readFigures, sumOf, valuesOf } from './metrics.js';
import { type Row, Table } from './table.js';
import { useWorkspace, Workspace } from './workspace.js';

const { machine } = texts;

interface GatewayNode {
  readonly node_id: string;
  readonly url: string | null;
  readonly state: string;
  readonly calls: number;
  readonly places: number | null;
  readonly version: string;
  readonly started_at: string;
}

interface Seen {
  readonly nodes: readonly GatewayNode[];
  readonly figures: Figures;
  readonly at: number;
}

async function look(signal: AbortSignal): Promise<Seen> {
  const [{ nodes }, text] = await Promise.all([
    ask<{ readonly nodes: readonly GatewayNode[] }>('nodes', { signal }),
    request('metrics', { signal }).then((response) => response.text()),
  ]);
  return { nodes, figures: readFigures(text), at: Date.now() };
}

const EVERY_MS = 5000;
/** Number of samples kept: an hour. */
const KEPT = 720;

/** Polls the figures, and remembers them while the view is open. */
function useSeen() {
  const loaded = useLoad(look, []);
  const [seen, setSeen] = useState<readonly Seen[]>([]);
  const { data, reload, busy } = loaded;
  useEffect(() => {
    if (data) setSeen((before) => [...before, data].slice(-KEPT));
  }, [data]);
  useEffect(() => {
    if (busy) return;
    const timer = setTimeout(reload, EVERY_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  return { ...loaded, seen };
}

const secondsText = (seconds: number | undefined): string =>
  seconds === undefined
    ? '–'
    : seconds === Infinity
      ? machine.longer
      : machine.within(Math.round(seconds * 1000));

const requestsOf = (figures: Figures, of: string): number =>
  sumOf(figures, 'gateway_requests_total', ({ status = '' }) => status.startsWith(of) && status !== GONE);

/** A figure with its course while the view was open. */
function Trend({
  name,
  values,
  text,
}: {
  readonly name: string;
  readonly values: readonly number[];
  readonly text: string;
}) {
  const most = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(2)},${(29 - (value / most) * 27).toFixed(2)}`,
  );
  return (
    <div class="panel stack tight">
      <p class="soft">{name}</p>
      <p class="figure">{text}</p>
      <svg class="spark" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">
        <polyline
          points={points.join(' ')}
          fill="none"
          stroke="currentColor"
          vector-effect="non-scaling-stroke"
        />
      </svg>
    </div>
  );
}

/** Requests per second between two samples. */
const rates = (seen: readonly Seen[]): readonly number[] =>
  seen.slice(1).map(({ figures, at }, index) => {
    const before = seen[index] as Seen;
    const asked = sumOf(figures, 'gateway_requests_total') - sumOf(before.figures, 'gateway_requests_total');
    return Math.max(0, asked / ((at - before.at) / 1000));
  });

const Now = ({ seen }: { readonly seen: readonly Seen[] }) => {
  const gauges = [
    'gateway_calls',
    'gateway_open_sockets',
    'gateway_requests_in_flight',
    'gateway_speech_jobs_running',
  ] as const;
  const perSecond = rates(seen);
  return (
    <div class="trends">
      {gauges.map((name) => {
        const values = seen.map(({ figures }) => sumOf(figures, name));
        return (
          <Trend
            key={name}
            name={machine.gauges[name]}
            values={values}
            text={numberText(values.at(-1) ?? 0)}
          />
        );
      })}
      <Trend name={machine.perSecond} values={perSecond} text={placesText(perSecond.at(-1) ?? 0, 1)} />
    </div>
  );
};

const nodeRow = ({ node_id: id, url, state, calls, places, version, started_at: at }: GatewayNode): Row => [
  url ?? id,
  machine.states[state] ?? state,
  places === null ? calls : `${calls} / ${places}`,
  version,
  momentText(at),
];

const WAITS = ['gateway_child_job_wait_seconds', 'gateway_child_piece_wait_seconds'] as const;

/** The longer of the waits of jobs and of their pieces: a client waits for both, and one of them is negligible. */
function waitOf(figures: Figures, child: string): number | undefined {
  const waits = WAITS.map((name) => quantile(figures, name, 0.95, ({ role }) => role === child));
  const known = waits.filter((wait) => wait !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

const childRow = (figures: Figures, child: string): Row => {
  const of = (name: string) => sumOf(figures, name, ({ role }) => role === child);
  const connected = of('gateway_child_connected') > 0;
  return [
    machine.roles[child] ?? child,
    connected ? machine.up : machine.down,
    of('gateway_child_jobs_running'),
    of('gateway_child_jobs_queued') + of('gateway_child_pieces_queued'),
    secondsText(waitOf(figures, child)),
  ];
};

const ROUTES_SHOWN = 12;

/** Routes, busiest first, without the console's own files. */
function routeRows(figures: Figures): readonly Row[] {
  const name = 'gateway_first_byte_seconds';
  const rows = valuesOf(figures, `${name}_count`, 'route').map((route) => {
    const which = (labels: Readonly<Record<string, string>>) => labels['route'] === route;
    const count = sumOf(figures, `${name}_count`, which);
    return { route, count, which };
  });
  return rows
    .filter(({ route, count }) => count > 0 && !route.startsWith('/console'))
    .sort((one, other) => other.count - one.count)
    .slice(0, ROUTES_SHOWN)
    .map(({ route, count, which }) => [
      route,
      count,
      secondsText(quantile(figures, name, 0.5, which)),
      secondsText(quantile(figures, name, 0.95, which)),
    ]);
}

const Facts = ({ figures }: { readonly figures: Figures }) => {
  const rows = [
    [machine.answered, numberText(requestsOf(figures, ''))],
    [machine.refused, numberText(requestsOf(figures, '4'))],
    [machine.failed, numberText(requestsOf(figures, '5'))],
    [machine.turnHalf, secondsText(quantile(figures, 'gateway_turn_seconds', 0.5))],
    [machine.turnMost, secondsText(quantile(figures, 'gateway_turn_seconds', 0.95))],
    [machine.memory, machine.megabytes(sumOf(figures, 'process_resident_memory_bytes'))],
  ] as const;
  return <FigureList rows={rows} />;
};

const hasAnswered = ({ data, error }: Loaded<unknown>): boolean => data !== undefined || error !== undefined;

/** For keys that may not see the figures of all workspaces: those of their own. */
function OwnFigures() {
  const workspace = useWorkspace();
  return (
    <Page title={texts.views.machine} intro={machine.ownOnly}>
      {hasAnswered(workspace) ? <Workspace workspace={workspace} /> : <Loading />}
    </Page>
  );
}

export function Machine() {
  const may = useMay();
  return may('machine') ? <WholeMachine /> : <OwnFigures />;
}

/** The view is shown only when all of it is loaded: late parts would push away what the user has begun to read. */
function WholeMachine() {
  const { data, error, seen, reload } = useSeen();
  const hour = useHour();
  const workspace = useWorkspace();
  const isKnown = data !== undefined && hasAnswered(hour) && hasAnswered(workspace);
  return (
    <Page title={texts.views.machine} intro={machine.intro}>
      <Failure error={error} retry={reload} />
      {!isKnown && error === undefined && <Loading />}
      {isKnown && (
        <>
          <Now seen={seen} />
          <Facts figures={data.figures} />
          <LastHour hour={hour} />
          <Table title={machine.nodes} heads={machine.nodeHeads} rows={data.nodes.map(nodeRow)} />
          <div class="columns">
            <Table
              title={machine.children}
              heads={machine.childHeads}
              rows={valuesOf(data.figures, 'gateway_child_connected', 'role').map((child) =>
                childRow(data.figures, child),
              )}
            />
          </div>
          <Table title={machine.routes} heads={machine.routeHeads} rows={routeRows(data.figures)} />
          <Workspace workspace={workspace} />
        </>
      )}
    </Page>
  );
}
