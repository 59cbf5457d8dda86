/** Whether all is well, how the calls went, the last ones, and what to try first. */
import { ask } from '../../api.js';
import { useMay } from '../../account.js';
import { momentText } from '../../format.js';
import { useLoad } from '../../hooks.js';
import { Failure, Loading, Page } from '../../parts/basics.js';
import { linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import type { CallRow } from '../calls/record.js';
import { StatusTag } from '../calls/status.js';
import { CallFigures } from './figures.js';
import { WellPanel } from './well.js';

/** Number of newest calls shown; the running ones among them are counted. */
const LAST = 5;

function LastCalls() {
  const { data, error, reload } = useLoad(
    (signal) =>
      ask<{ readonly sessions: readonly CallRow[] }>(`v1/agent/sessions?page_size=${LAST}`, { signal }),
    [],
  );
  const running = data?.sessions.filter(({ status }) => status === 'active').length ?? 0;
  return (
    <section class="panel stack tight">
      <div class="row">
        <h2>{texts.start.last}</h2>
        {running > 0 && <span class="tag good">{texts.start.running(running)}</span>}
      </div>
      {!data && (error === undefined ? <Loading /> : <Failure error={error} retry={reload} />)}
      {data?.sessions.length === 0 && <p class="soft">{texts.calls.none}</p>}
      {data?.sessions.map((call) => (
        <p key={call.session_id} class="row">
          <a href={linkTo(['calls', call.session_id])}>{momentText(call.created_at)}</a>
          <span>{call.name ?? call.agent_name}</span>
          <StatusTag call={call} />
        </p>
      ))}
      {data && data.sessions.length > 0 && (
        <p>
          <a href={linkTo(['calls'])}>{texts.start.allCalls}</a>
        </p>
      )}
    </section>
  );
}

/** Suggestions, in order: the first few that the key allows are shown. The menu has the rest. */
const TRIALS = [
  { name: 'speak', needs: 'speech' },
  { name: 'agents', needs: 'read' },
  { name: 'talk', needs: 'sessions' },
  { name: 'listen', needs: 'speech' },
  { name: 'realtime', needs: 'speech' },
  { name: 'calls', needs: 'records' },
] as const;
const TRIALS_SHOWN = 3;

export function Start() {
  const may = useMay();
  return (
    <Page title={texts.views.start} intro={texts.start.intro}>
      <div class="columns">
        <div class="stack">
          <WellPanel />
          <section class="panel stack tight">
            <h2>{texts.start.try}</h2>
            {TRIALS.filter(({ needs }) => may(needs))
              .slice(0, TRIALS_SHOWN)
              .map(({ name }) => (
                <p key={name}>
                  <a href={linkTo([name])}>{texts.start[name]}</a>
                </p>
              ))}
          </section>
        </div>
        {may('records') && <LastCalls />}
      </div>
      {may('records') && <CallFigures />}
    </Page>
  );
}
