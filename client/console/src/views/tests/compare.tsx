/** Two test runs of an agent side by side: the changes by scenario, and both conversations. */
import { useState } from 'preact/hooks';
import { useLoad } from '../../hooks.js';
import { Failure, Loading, Page } from '../../parts/basics.js';
import { linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { nameOf, ResultBody } from './run.js';
import { changesOf } from './sound.js';
import { compare, type Compared, type Comparison, readResult } from './test-api.js';
import { Verdict } from './verdict.js';

const { tests } = texts;

type Runs = Pick<Comparison, 'base' | 'other'>;

/** One run's result of a scenario, which the run may not have played. */
function Side({
  name,
  run,
  scenario,
}: {
  readonly name: string;
  readonly run: string;
  readonly scenario: string | null;
}) {
  const { data, error, reload } = useLoad(
    async (signal) => (scenario === null ? null : readResult(run, scenario, signal)),
    [run, scenario],
  );
  return (
    <section class="panel stack tight">
      <h3>{name}</h3>
      {data === undefined && (error === undefined ? <Loading /> : <Failure error={error} retry={reload} />)}
      {data === null && <p class="soft">{tests.notPlayed}</p>}
      {data && <ResultBody result={data} />}
    </section>
  );
}

function Row({ compared, base, other }: Runs & { readonly compared: Compared }) {
  const { scenario_id: id, scenario_name: name, change } = compared;
  const [open, setOpen] = useState(change !== 'same');
  return (
    <details class="panel section" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>{name}</h2> <Verdict status={change} />
        {compared.checks.map((check, index) => (
          <p key={index} class="soft">
            {tests.checkChanged(check.name, check.base, check.other)}
          </p>
        ))}
        {changesOf(compared.calls.base, compared.calls.other).map((line) => (
          <p key={line} class="soft">
            {line}
          </p>
        ))}
      </summary>
      {open && (
        <div class="columns">
          <Side name={nameOf(base)} run={base.run_id} scenario={compared.base && id} />
          <Side name={nameOf(other)} run={other.run_id} scenario={compared.other && id} />
        </div>
      )}
    </details>
  );
}

export function CompareView({ base, other }: { readonly base: string; readonly other: string }) {
  const { data, error, reload } = useLoad((signal) => compare(base, other, signal), [base, other]);
  return (
    <Page
      title={tests.compared}
      intro={data && `${nameOf(data.base)} – ${nameOf(data.other)}`}
      back={{ name: tests.backToRun, to: linkTo(['tests', 'runs', other]) }}
    >
      {!data && (error === undefined ? <Loading /> : <Failure error={error} retry={reload} />)}
      {data?.scenarios.map((compared) => (
        <Row key={compared.scenario_id} compared={compared} base={data.base} other={data.other} />
      ))}
    </Page>
  );
}
