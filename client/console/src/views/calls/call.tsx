/** One call: figures, sound, transcript, analysis; saving and deleting it. */
import { useEffect } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { amountText, lengthText, momentText, msText, numberText } from '../../format.js';
import { useLoad } from '../../hooks.js';
import { Failure, FigureList, Loading, Page } from '../../parts/basics.js';
import { Deliveries } from '../../parts/deliveries.js';
import { Remove } from '../../parts/remove.js';
import { Sure } from '../../parts/sure.js';
import { go, linkTo } from '../../router.js';
import { saveText } from '../../save.js';
import { texts } from '../../texts.js';
import { AnalysisPanel, Details } from './analysis.js';
import { TurnTimes } from '../turn-times.js';
import { callPath, type KnownCall, readCall } from './call-api.js';
import { Player } from './player.js';
import { type Call, isLive, partsOf, percentile } from './record.js';
import { Spent } from './spent.js';
import { StatusTag } from './status.js';

const { calls } = texts;

const AGAIN_MS = 4000;
/** While somebody talks. */
const SOON_MS = 1500;

/** Whether more of the record is still to come. */
const grows = ({ call, recording }: KnownCall): boolean =>
  isLive(call) ||
  recording?.status === 'processing' ||
  ['queued', 'running'].includes(call.analysis?.status ?? '');

function Figures({ call }: { readonly call: Call }) {
  const { figures } = calls;
  const { turns, usage, cost } = call;
  const tokens = usage.input_tokens + usage.output_tokens;
  const rows: readonly (readonly [string, string])[] = [
    [figures.length, lengthText(call.duration_seconds)],
    [figures.turns, String(turns.length)],
    [figures.median, msText(percentile(turns, 0.5))],
    [figures.slow, msText(percentile(turns, 0.95))],
    [figures.interruptions, String(turns.filter(({ interrupted }) => interrupted).length)],
    ...(tokens > 0 ? [[figures.tokens, numberText(tokens)] as const] : []),
    [figures.characters, numberText(usage.characters)],
    ...(cost ? [[figures.cost, `${amountText(cost.total)} ${cost.currency}`] as const] : []),
  ];
  return <FigureList rows={rows} />;
}

/** Answers that were heard, as the table of times takes them. */
const heardTurns = ({ turns }: Call) =>
  turns.flatMap(({ number, cause, latency_ms: latencyMs, latency, interrupted }) =>
    latencyMs === null
      ? []
      : [
          {
            ...{ number, cause, latencyMs, latency: latency && partsOf(latency) },
            interruptedBy: interrupted?.by ?? null,
          },
        ],
  );

const save = (call: Call): void => saveText(`${call.session_id}.json`, JSON.stringify(call, null, 2));

const Head = ({ call }: { readonly call: Call }) => (
  <header class="stack tight">
    <p>
      <a href={linkTo(['calls'])}>{calls.back}</a>
    </p>
    <div class="row">
      <h1>{call.name ?? call.agent_name}</h1>
      <StatusTag call={call} />
    </div>
    <p class="soft">
      {[
        momentText(call.created_at),
        calls.version(call.version_number),
        call.caller_number,
        call.dial_status && calls.dialled(call.dial_status, call.answered_by),
        call.end_user_id,
        call.ended_reason && calls.ended(call.ended_reason),
      ]
        .filter(Boolean)
        .join(' · ')}
    </p>
  </header>
);

const End = ({ id, done }: { readonly id: string; readonly done: () => void }) => (
  <Sure
    name={calls.end}
    sure={calls.endSure}
    now={calls.endNow}
    act={async (signal) => {
      await ask(`${callPath(id)}/end`, { method: 'POST', signal });
      done();
    }}
  />
);

export function CallView({ id, initial }: { readonly id: string; readonly initial: number }) {
  const may = useMay();
  const { data, error, reload } = useLoad((signal) => readCall(id, signal), [id]);
  useEffect(() => {
    if (!data || !grows(data)) return;
    const timer = setTimeout(reload, isLive(data.call) ? SOON_MS : AGAIN_MS);
    return () => clearTimeout(timer);
  }, [data]);
  if (!data)
    return (
      <Page title={texts.views.calls}>
        {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
      </Page>
    );
  const { call, recording } = data;
  return (
    <div class="stack">
      <Head call={call} />
      {isLive(call) && (
        <div class="row">
          <p class="notice">{calls.live}</p>
          {may('sessions') && <End id={id} done={reload} />}
        </div>
      )}
      <Failure error={error} retry={reload} />
      <Figures call={call} />
      <Player call={call} recording={recording} initial={initial} />
      {call.analysis && <AnalysisPanel analysis={call.analysis} />}
      <TurnTimes turns={heardTurns(call)} folded />
      <Spent call={call} />
      <Details call={call} />
      <Deliveries of={{ session_id: id }} key={call.analysis?.status ?? call.status} />
      <div class="row">
        <button class="button" type="button" onClick={() => save(call)}>
          {calls.saveJson}
        </button>
        {may('manage') && !isLive(call) && (
          <Remove path={callPath(id)} sure={calls.removeSure} done={() => go(['calls'])} />
        )}
      </div>
    </div>
  );
}
