/** A test run in progress, and the result of each scenario. */
import { useEffect } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { lengthText, momentText, spaced } from '../../format.js';
import { useAction, useLoad } from '../../hooks.js';
import { Failure, Field, Loading, Page, Scroll } from '../../parts/basics.js';
import { Remove } from '../../parts/remove.js';
import { DRAFT } from '../../parts/version-field.js';
import { go, linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { CallPart } from './sound.js';
import { SaidLines } from './talk.js';
import {
  goesOn,
  listPath,
  readResult,
  type Result,
  type Run,
  type RunRow,
  runPath,
  startRun,
  type WholeResult,
} from './test-api.js';
import { Checks, Verdict } from './verdict.js';

const { tests } = texts;

const AGAIN_MS = 1000;

export const nameOf = ({ version_number: version, created_at: at }: RunRow): string =>
  `${texts.calls.version(version)}, ${momentText(at)}`;

/** Loads again until `data` has ended. */
export function useFollowed<T extends { readonly ended_at: string | null }>(
  load: (signal: AbortSignal) => Promise<T>,
  on: readonly unknown[],
) {
  const loaded = useLoad(load, on);
  const { data, busy, reload } = loaded;
  useEffect(() => {
    if (!data || busy || !goesOn(data)) return;
    const timer = setTimeout(reload, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [data, busy]);
  return loaded;
}

function Progress({ run, reload }: { readonly run: Run; readonly reload: () => void }) {
  const may = useMay();
  const done = run.results.filter((result) => !goesOn(result)).length;
  const cancelling = useAction(async (signal) => {
    await ask(`${runPath(run.run_id)}/cancel`, { method: 'POST', signal });
    reload();
  });
  return (
    <div class="stack tight">
      <div class="row">
        <label class="inline grow">
          <span role="status">{tests.played(done, run.results.length)}</span>
          <progress value={done} max={Math.max(1, run.results.length)} />
        </label>
        {may('sessions') && (
          <button
            class="button"
            type="button"
            disabled={cancelling.busy}
            onClick={() => void cancelling.run()}
          >
            {texts.cancel}
          </button>
        )}
      </div>
      <Failure error={cancelling.error} />
    </div>
  );
}

const secondsOf = ({ started_at: from, ended_at: to }: Result): number | null =>
  from && to ? (Date.parse(to) - Date.parse(from)) / 1000 : null;

const Row = ({ run, result }: { readonly run: Run; readonly result: Result }) => {
  const held = result.checks.filter(({ passed }) => passed).length;
  const wrong = result.checks.filter(({ passed }) => !passed);
  return (
    <tr>
      <td>
        <a href={linkTo(['tests', 'runs', run.run_id, result.scenario_id])}>{result.scenario_name}</a>
        {result.error && <p class="problem">{result.error}</p>}
        {wrong.map(({ name }, index) => (
          <p key={index} class="problem">
            {name}
          </p>
        ))}
      </td>
      <td>
        <Verdict status={result.status} />
      </td>
      <td class="number">{tests.held(held, result.checks.length)}</td>
      <td class="number spare">{lengthText(secondsOf(result))}</td>
    </tr>
  );
};

/** The agent's other runs, to compare with this one. */
function Beside({ run }: { readonly run: Run }) {
  const { data } = useLoad(
    (signal) => ask<{ readonly runs: readonly RunRow[] }>(listPath('runs', run.agent_id), { signal }),
    [run.agent_id],
  );
  const others = data?.runs.filter(({ run_id: id }) => id !== run.run_id) ?? [];
  if (others.length === 0) return null;
  return (
    <Field label={tests.beside}>
      {(tied) => (
        <select
          {...tied}
          value=""
          onChange={({ currentTarget }) =>
            go(['tests', 'compare'], { base: currentTarget.value, other: run.run_id })
          }
        >
          <option value="">{tests.choose}</option>
          {others.map((other) => (
            <option key={other.run_id} value={other.run_id}>
              {nameOf(other)}: {tests.statuses[other.status] ?? other.status}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Plays the same once more: the suite as it is now, or else these scenarios, against the same version or the draft of now. */
function Again({ run }: { readonly run: Run }) {
  const starting = useAction(async (signal) => {
    const { agent_id: agent, suite_id: suite, version_number: version, results } = run;
    const which = suite ? { suite_id: suite } : { scenario_ids: results.map(({ scenario_id: id }) => id) };
    const made = await startRun({ agent_id: agent, version: version ?? DRAFT, ...which }, signal);
    go(['tests', 'runs', made.run_id]);
  });
  return (
    <div class="stack tight">
      <div>
        <button class="button" type="button" disabled={starting.busy} onClick={() => void starting.run()}>
          {tests.playAgain}
        </button>
      </div>
      <Failure error={starting.error} />
    </div>
  );
}

const Results = ({ run }: { readonly run: Run }) => (
  <Scroll label={tests.results}>
    <table>
      <thead>
        <tr>
          <th>{tests.scenario}</th>
          <th>{tests.verdict}</th>
          <th class="number">{tests.checks}</th>
          <th class="number spare">{texts.calls.length}</th>
        </tr>
      </thead>
      <tbody>
        {run.results.map((result) => (
          <Row key={result.scenario_id} run={run} result={result} />
        ))}
      </tbody>
    </table>
  </Scroll>
);

export function RunView({ id }: { readonly id: string }) {
  const may = useMay();
  const { data: run, error, reload } = useFollowed((signal) => ask<Run>(runPath(id), { signal }), [id]);
  if (!run)
    return (
      <Page title={texts.views.tests}>
        {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
      </Page>
    );
  return (
    <Page
      title={tests.runOf(run.agent_name)}
      intro={[nameOf(run), run.suite_name].filter(Boolean).join(' · ')}
      back={{ name: tests.backToRuns, to: linkTo(['tests', 'runs'], { agent: run.agent_id }) }}
      state={<Verdict status={run.status} />}
    >
      <Failure error={error} retry={reload} />
      {goesOn(run) && <Progress run={run} reload={reload} />}
      <Results run={run} />
      {!goesOn(run) && (
        <>
          <div class="fields">
            <Beside run={run} />
          </div>
          {may('sessions') && <Again key={id} run={run} />}
          {may('manage') && (
            <Remove
              path={runPath(id)}
              sure={tests.removeRun}
              done={() => go(['tests', 'runs'], { agent: run.agent_id })}
            />
          )}
        </>
      )}
    </Page>
  );
}

/** The details of a result; a comparison shows them too. */
export const ResultBody = ({
  result,
  heard = false,
}: {
  readonly result: WholeResult;
  /** Whether its call is loaded immediately. */
  readonly heard?: boolean;
}) => (
  <>
    <p>
      <Verdict status={result.status} />{' '}
      {result.ended_by && <span class="soft">{tests.endedBy(spaced(result.ended_by))}</span>}
    </p>
    {result.error && <p class="problem">{result.error}</p>}
    <Checks checks={result.checks} />
    {result.call && <CallPart call={result.call} open={heard} />}
    <SaidLines result={result} />
  </>
);

export function ResultView({ run, scenario }: { readonly run: string; readonly scenario: string }) {
  const { data, error, reload } = useFollowed((signal) => readResult(run, scenario, signal), [run, scenario]);
  return (
    <Page
      title={data?.scenario_name ?? texts.views.tests}
      back={{ name: tests.backToRun, to: linkTo(['tests', 'runs', run]) }}
    >
      {!data && (error === undefined ? <Loading /> : <Failure error={error} retry={reload} />)}
      {data && <ResultBody result={data} heard />}
      {data && (
        <p>
          <a href={linkTo(['tests', 'scenarios', scenario])}>{tests.change}</a>
        </p>
      )}
    </Page>
  );
}
