/** A call with one of the workspace's agents, published or draft, from this page. */
import { useEffect, useState } from 'preact/hooks';
import type { SessionRequest, SessionResponse } from '../../../src/place.js';
import { useMay } from '../account.js';
import { type AgentRow, allAgents } from '../agents.js';
import { ask } from '../api.js';
import { useLoad } from '../hooks.js';
import { AgentField } from '../parts/agent-field.js';
import { Bookings, useBookings } from '../parts/bookings.js';
import { Empty, Failure, Loading, Page } from '../parts/basics.js';
import { Lines } from '../parts/lines.js';
import { NoMicrophone, useMissingMicrophone } from '../parts/no-microphone.js';
import { DRAFT, LIVE, VersionField } from '../parts/version-field.js';
import { linkTo, setQuery, useAddress } from '../router.js';
import { texts } from '../texts.js';
import { useConversation } from './conversation.js';
import { CallControls, RecordLink, Volumes, Writing } from './talk-controls.js';
import { DeviceFields, useChosenDevices } from './talk-devices.js';
import { TurnTimes } from './turn-times.js';

const { talk } = texts;

/** Requests the session, once the microphone is available. The published version is used as by callers; any other is a preview. */
const requestOf =
  (agentId: string, version: string): SessionRequest =>
  (signal) => {
    const client_timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (version === LIVE)
      return ask<SessionResponse>('v1/agent/sessions', {
        body: { agent_id: agentId, client_timezone },
        signal,
      });
    const version_number = version === DRAFT ? null : Number(version);
    const path = `v1/agent/agents/${encodeURIComponent(agentId)}/preview`;
    return ask<SessionResponse>(path, { body: { version_number, client_timezone }, signal });
  };

/** Chooses an agent, and resets the version, which belongs to one agent. */
const choose = (agent: string): void => setQuery({ agent, version: '' });

function Call({ agents }: { readonly agents: readonly AgentRow[] | undefined }) {
  const may = useMay();
  const { query } = useAddress();
  const chosen = query.get('agent') ?? agents?.[0]?.agent_id ?? '';
  const version = (may('manage') && query.get('version')) || LIVE;
  const chosenDevices = useChosenDevices();
  const { state, start, write, end } = useConversation();
  const { bookings, tools } = useBookings();
  const missing = useMissingMicrophone(state.status);
  const call = (microphone: boolean) =>
    start(
      requestOf(chosen, version),
      { ...chosenDevices.options, ...(!microphone && { microphone }) },
      tools,
    );
  useEffect(() => end, []);
  return (
    <div class="stack">
      <div class="fields">
        <AgentField agents={agents} chosen={chosen} choose={choose} />
        {may('manage') && (
          <VersionField
            agent={chosen}
            value={version}
            choose={(next) => setQuery({ version: next === LIVE ? '' : next })}
          />
        )}
        <DeviceFields
          chosen={chosenDevices}
          session={state.session}
          connected={state.status === 'connected'}
        />
      </div>
      <CallControls state={state} ready={chosen !== ''} start={call} end={end} />
      <NoMicrophone missing={state.missing ?? missing} />
      <Volumes state={state} />
      <Lines lines={state.lines} speakers={talk.speakers} label={talk.conversation} quiet={talk.quiet} />
      <p class="unseen" aria-live="polite">
        {state.aloud}
      </p>
      {state.status === 'connected' && <Writing write={write} first={state.session?.muted ?? false} />}
      {bookings.length > 0 && <Bookings bookings={bookings} />}
      <TurnTimes turns={state.turns} />
      <RecordLink state={state} />
    </div>
  );
}

function Listed() {
  const [round, setRound] = useState(0);
  const { data, error } = useLoad(allAgents, [round]);
  if (error !== undefined) return <Failure error={error} retry={() => setRound(round + 1)} />;
  if (!data) return <Loading />;
  if (data.length === 0)
    return (
      <Empty title={talk.noAgents}>
        <a href={linkTo(['agents', 'new'])}>{talk.noAgentsHelp}</a>
      </Empty>
    );
  return <Call agents={data} />;
}

export function Talk() {
  const may = useMay();
  return (
    <Page title={texts.views.talk} intro={talk.intro}>
      {may('read') ? <Listed /> : <Call agents={undefined} />}
    </Page>
  );
}
