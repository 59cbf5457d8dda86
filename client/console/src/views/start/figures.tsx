/** How the calls went over hours, days and weeks: totals, charts, and what the failed ones failed of. */
import { amountText, msText, numberText } from '../../format.js';
import { useLoad } from '../../hooks.js';
import { Failure, Field, FigureList, Loading } from '../../parts/basics.js';
import { Chart } from '../../parts/chart.js';
import { AgentFilter, choose } from '../../parts/list-filters.js';
import { LIVE, VersionField } from '../../parts/version-field.js';
import { linkTo, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import {
  type Figures,
  isRange,
  momentName,
  type Range,
  readStats,
  type Stats,
  type Wanted,
} from './stats.js';

const { start } = texts;

const wantedOf = (query: URLSearchParams): Wanted => {
  const range = query.get('range');
  return {
    range: isRange(range) ? range : 'days',
    agent: query.get('agent_id') ?? '',
    version: query.get('version') ?? '',
    kind: query.get('kind') ?? '',
  };
};

const Choice = ({
  label,
  name,
  value,
  options,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
}) => (
  <Field label={label}>
    {(tied) => (
      <select {...tied} value={value} onChange={({ currentTarget }) => choose(name, currentTarget.value)}>
        {Object.entries(options).map(([option, shown]) => (
          <option key={option} value={option}>
            {shown}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** All versions, the draft (0), or one. */
const VERSIONS: Readonly<Record<string, string>> = { [LIVE]: '', draft: '0' };
const versionChosen = (version: string): string =>
  Object.keys(VERSIONS).find((name) => VERSIONS[name] === version) ?? version;

const Filters = ({ range, agent, version, kind }: Wanted) => (
  <div class="fields filters">
    <Choice label={start.range} name="range" value={range} options={start.ranges} />
    <AgentFilter value={agent} />
    {agent && (
      <VersionField
        agent={agent}
        value={versionChosen(version)}
        any={start.anyVersion}
        choose={(name) => choose('version', VERSIONS[name] ?? name)}
      />
    )}
    <Choice label={start.kind} name="kind" value={kind} options={{ '': start.anyKind, ...start.kinds }} />
  </div>
);

const roundText = (value: number): string => numberText(Math.round(value * 10) / 10);
const partText = (part: number | null): string => (part === null ? '–' : `${roundText(part * 100)} %`);

const costText = ({ costs = [] }: Figures): string =>
  costs.map(({ currency, amount }) => `${amountText(amount)} ${currency}`).join(', ');

const totalRows = (total: Figures): [string, string][] => [
  [start.callCount, roundText(total.calls)],
  [start.success, partText(total.success)],
  [start.p50, msText(total.latency.p50_ms)],
  [start.p90, msText(total.latency.p90_ms)],
  [start.minutes, roundText(total.minutes)],
  [start.words, roundText(total.words_user + total.words_agent)],
  ...(total.costs ? [[start.cost, costText(total)] as [string, string]] : []),
  [start.failedAnswers, roundText(total.failed_answers)],
  [start.failedTools, roundText(total.failed_tool_calls)],
  [start.notJoined, roundText(total.not_joined)],
];

const Failures = ({ total, agent }: { readonly total: Figures; readonly agent: string }) =>
  total.failures.length === 0 ? null : (
    <section class="panel stack tight">
      <h3>{start.causes}</h3>
      <dl class="pairs">
        {total.failures.map(({ reason, calls }) => (
          <div key={reason}>
            <dt>{start.reasons[reason] ?? reason}</dt>
            <dd>{roundText(calls)}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a href={linkTo(['calls'], { status: 'failed', agent_id: agent })}>{start.failedCalls}</a>
      </p>
    </section>
  );

function Charts({ points, range }: { readonly points: Stats['points']; readonly range: Range }) {
  const moments = points.map(({ at }) => momentName(at, range));
  const values = (name: keyof Figures) => points.map((point) => Number(point[name]));
  const currencies = [...new Set(points.flatMap(({ costs = [] }) => costs.map(({ currency }) => currency)))];
  const series = {
    calls: [
      { name: start.completed, values: values('completed') },
      { name: start.failed, values: values('failed'), tone: 'bad' as const },
    ],
    latency: [
      { name: start.p50, values: points.map(({ latency }) => latency.p50_ms) },
      { name: start.p90, values: points.map(({ latency }) => latency.p90_ms) },
    ],
    minutes: [{ name: start.minutes, values: values('minutes') }],
    words: [
      { name: start.wordsUser, values: values('words_user') },
      { name: start.wordsAgent, values: values('words_agent') },
    ],
  };
  return (
    <div class="columns two">
      <Chart title={start.callCount} kind="bars" moments={moments} series={series.calls} text={roundText} />
      <Chart title={start.latency} kind="lines" moments={moments} series={series.latency} text={msText} />
      <Chart title={start.minutes} kind="bars" moments={moments} series={series.minutes} text={roundText} />
      <Chart title={start.words} kind="bars" moments={moments} series={series.words} text={roundText} />
      {currencies.map((currency) => (
        <Chart
          key={currency}
          title={start.cost}
          kind="bars"
          moments={moments}
          series={[
            {
              name: start.cost,
              values: points.map(
                ({ costs }) => costs?.find((cost) => cost.currency === currency)?.amount ?? 0,
              ),
            },
          ]}
          text={(amount) => `${amountText(amount)} ${currency}`}
        />
      ))}
    </div>
  );
}

export function CallFigures() {
  const { query } = useAddress();
  const wanted = wantedOf(query);
  const { data, error, reload } = useLoad(
    async (signal) => ({ range: wanted.range, stats: await readStats(wanted, signal) }),
    Object.values(wanted),
  );
  return (
    <section class="stack" aria-labelledby="figures">
      <h2 id="figures">{start.figures}</h2>
      <Filters {...wanted} />
      {!data && error === undefined && <Loading />}
      <Failure error={error} retry={reload} />
      {data && (
        <>
          <div class="panel" role="status">
            <FigureList rows={totalRows(data.stats.total)} />
          </div>
          {data.stats.total.calls === 0 && <p class="soft">{start.noCalls}</p>}
          {data.stats.total.calls > 0 && <Charts points={data.stats.points} range={data.range} />}
          <Failures total={data.stats.total} agent={wanted.agent} />
        </>
      )}
    </section>
  );
}
