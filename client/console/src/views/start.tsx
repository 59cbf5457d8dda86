/** Whether the gateway is well, and what to try first. */
import { addressOf } from '../api.js';
import { useMay } from '../account.js';
import { useLoad } from '../hooks.js';
import { Failure, Loading, Page } from '../parts/basics.js';
import { linkTo } from '../router.js';
import { texts } from '../texts.js';

interface Health {
  readonly status: string;
  readonly checks: Readonly<Record<string, boolean>>;
}

/** Told with 503 as well. */
const readHealth = async (signal: AbortSignal): Promise<Health> =>
  (await fetch(addressOf('health'), { signal })).json() as Promise<Health>;

function HealthPanel() {
  const { data, error, reload } = useLoad(readHealth, []);
  if (error !== undefined) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  const missing = Object.keys(data.checks).filter((name) => !data.checks[name]);
  return (
    <section class="panel stack tight">
      <h2>{texts.start.health}</h2>
      <p>
        <span class={`tag ${data.status === 'ok' ? 'good' : 'warn'}`}>
          {texts.start.states[data.status] ?? data.status}
        </span>
      </p>
      {missing.length > 0 && <p class="soft">{texts.start.missing(missing.join(', '))}</p>}
    </section>
  );
}

const TRIALS = [
  { name: 'speak', needs: 'speech' },
  { name: 'listen', needs: 'speech' },
  { name: 'realtime', needs: 'speech' },
  { name: 'agents', needs: 'read' },
  { name: 'talk', needs: 'sessions' },
  { name: 'calls', needs: 'records' },
] as const;

export function Start() {
  const may = useMay();
  return (
    <Page title={texts.views.start} intro={texts.start.intro}>
      <div class="columns">
        <HealthPanel />
        <section class="panel stack tight">
          <h2>{texts.start.try}</h2>
          {TRIALS.filter(({ needs }) => may(needs)).map(({ name }) => (
            <p key={name}>
              <a href={linkTo([name])}>{texts.start[name]}</a>
            </p>
          ))}
          <p>
            <a href="docs">{texts.start.api}</a>
          </p>
        </section>
      </div>
    </Page>
  );
}
