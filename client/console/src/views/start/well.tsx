/** Whether everything that calls need is well: what `/health` knows of it, and what failed of tools and deliveries. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useMay } from '../../account.js';
import { addressOf, ask } from '../../api.js';
import { momentText } from '../../format.js';
import { useLoad } from '../../hooks.js';
import { Failure, Loading } from '../../parts/basics.js';
import { linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { readStats } from './stats.js';

const { start } = texts;

/** A part of the gateway in `/health`. Addresses are told to those on its own network only. */
interface Part {
  readonly part: string;
  readonly name: string;
  readonly status: 'ok' | 'failing' | 'unknown';
  readonly since: string;
  readonly message?: string;
  readonly address?: string;
}

interface Health {
  readonly status: string;
  readonly checks: Readonly<Record<string, boolean>>;
  readonly parts?: readonly Part[];
}

/** The health report, which also comes with status 503. */
const readHealth = async (signal: AbortSignal): Promise<Health> =>
  (await fetch(addressOf('health'), { signal })).json() as Promise<Health>;

/** What calls need: the kinds of parts, and the names of checks. What no row has is in the last one. */
const ROWS: readonly {
  readonly name: keyof typeof start.parts;
  readonly parts?: readonly string[];
  readonly checks?: readonly string[];
}[] = [
  { name: 'model', parts: ['model', 'analysis'] },
  { name: 'voices', parts: ['voice'], checks: ['tts', 'espeak', 'sherpa-tts'] },
  { name: 'recognisers', parts: ['recogniser'], checks: ['stt', 'sherpa-stt'] },
  { name: 'database', parts: ['database'], checks: ['database'] },
  { name: 'calls', parts: ['livekit', 'ice', 'phone'], checks: ['media', 'room'] },
  { name: 'others' },
];

type Tone = 'good' | 'bad' | 'warn' | '';

const Line = ({
  name,
  tone,
  state,
  children,
}: {
  readonly name: string;
  readonly tone: Tone;
  readonly state: string;
  readonly children?: ComponentChildren;
}) => (
  <li class="stack tight">
    <div class="row apart">
      <span>{name}</span>
      <span class={`tag ${tone}`}>{state}</span>
    </div>
    {children}
  </li>
);

const said = ({ name, message, address, since }: Part): string =>
  `${message ?? start.partFails([name, address].filter(Boolean).join(' '))} (${start.since(momentText(since))})`;

/** The entries of a row: in `others`, whatever no other row has. */
function entriesOf(health: Health, row: (typeof ROWS)[number]) {
  const known = ROWS.flatMap(({ parts = [], checks = [] }) => [...parts, ...checks]);
  const belongs = (of: 'parts' | 'checks', name: string): boolean =>
    row[of]?.includes(name) ?? (row.name === 'others' && !known.includes(name));
  return {
    parts: (health.parts ?? []).filter(({ part }) => belongs('parts', part)),
    checks: Object.entries(health.checks).filter(([name]) => belongs('checks', name)),
  };
}

function HealthLine({ health, row }: { readonly health: Health; readonly row: (typeof ROWS)[number] }) {
  const { parts, checks } = entriesOf(health, row);
  const failing = parts.filter(({ status }) => status === 'failing');
  const missing = checks.filter(([, passes]) => !passes).map(([name]) => name);
  const name = start.parts[row.name];
  if (parts.length + checks.length === 0)
    return row.name === 'model' ? <Line name={name} tone="warn" state={start.builtin} /> : null;
  const isBad = failing.length + missing.length > 0;
  const isUnknown = checks.length === 0 && parts.every(({ status }) => status === 'unknown');
  return (
    <Line
      name={name}
      tone={isBad ? 'bad' : isUnknown ? '' : 'good'}
      state={isBad ? start.fails : isUnknown ? start.notAsked : start.well}
    >
      {missing.length > 0 && <p class="soft">{start.missing(missing.join(', '))}</p>}
      {failing.map((part) => (
        <p class="soft" key={part.name}>
          {said(part)}
        </p>
      ))}
    </Line>
  );
}

interface Account {
  readonly tools: { readonly calls: number; readonly failed: number };
  readonly failedDeliveries: number;
}

/** What the workspace's own addresses did: tools in the last two days, deliveries that are kept. */
async function readAccount(signal: AbortSignal): Promise<Account> {
  const [{ total }, deliveries] = await Promise.all([
    readStats({ range: 'hours', agent: '', version: '', kind: '' }, signal),
    ask<{ readonly total: number | null }>(
      'v1/agent/deliveries?status=failed&page_size=1&include_total=true',
      { signal },
    ),
  ]);
  return {
    tools: { calls: total.tool_calls, failed: total.failed_tool_calls },
    failedDeliveries: deliveries.total ?? 0,
  };
}

const AccountLines = ({ tools, failedDeliveries }: Account) => (
  <>
    <Line
      name={start.parts.tools}
      tone={tools.failed > 0 ? 'bad' : tools.calls > 0 ? 'good' : ''}
      state={
        tools.failed > 0
          ? start.toolsFailed(tools.failed, tools.calls)
          : tools.calls > 0
            ? start.well
            : start.notAsked
      }
    />
    <Line
      name={start.parts.deliveries}
      tone={failedDeliveries > 0 ? 'bad' : 'good'}
      state={failedDeliveries > 0 ? start.deliveriesFailed(failedDeliveries) : start.well}
    >
      {failedDeliveries > 0 && (
        <p>
          <a href={linkTo(['deliveries'], { status: 'failed' })}>{start.seeDeliveries}</a>
        </p>
      )}
    </Line>
  </>
);

const EVERY_MS = 15_000;

export function WellPanel() {
  const may = useMay();
  const mayRead = may('records');
  const { data, error, busy, reload } = useLoad(
    async (signal) => {
      const [health, account] = await Promise.all([
        readHealth(signal),
        mayRead ? readAccount(signal) : undefined,
      ]);
      return { health, account };
    },
    [mayRead],
  );
  useEffect(() => {
    if (busy) return;
    const timer = setTimeout(reload, EVERY_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  return (
    <section class="panel stack tight wells">
      <div class="row apart">
        <h2>{start.health}</h2>
        {data && (
          <span class={`tag ${data.health.status === 'ok' ? 'good' : 'warn'}`} role="status">
            {start.states[data.health.status] ?? data.health.status}
          </span>
        )}
      </div>
      {!data && error === undefined && <Loading />}
      <Failure error={error} retry={reload} />
      {data && (
        <ul class="bare stack tight">
          {ROWS.map((row) => (
            <HealthLine key={row.name} health={data.health} row={row} />
          ))}
          {data.account && <AccountLines {...data.account} />}
        </ul>
      )}
    </section>
  );
}
