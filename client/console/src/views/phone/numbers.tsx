/** Telephone numbers that agents answer: listed, added with the credentials of their provider, changed, removed. */
import { useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { type AgentRow, allAgents } from '../../agents.js';
import { ask } from '../../api.js';
import type { CredentialNames } from '../../form/schema.js';
import { labelOf } from '../../form/form.js';
import { submitting, useAction, useKept, useLoad } from '../../hooks.js';
import { AgentSelect } from '../../parts/agent-select.js';
import { Check, Failure, Field, Loading, Page } from '../../parts/basics.js';
import { Copy } from '../../parts/copy.js';
import { Listing } from '../../parts/listing.js';
import { Remove } from '../../parts/remove.js';
import { go, linkTo, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { SaveState } from '../agents/editor.js';
import { type Saved, useSaved } from '../agents/saving.js';
import {
  loadProviders,
  NO_CREDENTIALS,
  type Providers,
  SecretFields,
  type Secrets,
  typedOf,
} from './credentials.js';

const { phone } = texts;

type PhoneNumber = Readonly<Record<string, unknown>> & {
  readonly phone_number_id: string;
  readonly provider: string;
  readonly phone_number: string;
  readonly label: string;
  readonly status_detail: string;
  readonly agent_id: string | null;
  readonly enabled: boolean;
  readonly answer_url: string;
  readonly updated_at: string;
};

const NUMBERS = 'v1/agent/phone-numbers';
const pathOf = (id: string): string => `${NUMBERS}/${encodeURIComponent(id)}`;

const providerName = (provider: string): string => labelOf([provider]);

const AgentField = ({
  agents,
  value,
  disabled = false,
  choose,
}: {
  readonly agents: readonly AgentRow[];
  readonly value: string;
  readonly disabled?: boolean;
  readonly choose: (agent: string) => void;
}) => (
  <AgentSelect
    label={phone.agent}
    help={phone.agentHelp}
    agents={agents}
    value={value}
    none={phone.nobody}
    disabled={disabled}
    choose={choose}
  />
);

const LabelField = ({
  value,
  disabled = false,
  change,
}: {
  readonly value: string;
  readonly disabled?: boolean;
  readonly change: (label: string) => void;
}) => (
  <Field label={phone.label} help={phone.labelHelp}>
    {(tied) => (
      <input
        {...tied}
        maxlength={120}
        autocomplete="off"
        value={value}
        disabled={disabled}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    )}
  </Field>
);

const ProviderField = ({
  providers,
  value,
  choose,
}: {
  readonly providers: readonly string[];
  readonly value: string;
  readonly choose: (provider: string) => void;
}) => (
  <Field label={phone.provider}>
    {(tied) => (
      <select {...tied} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {providers.map((each) => (
          <option key={each} value={each}>
            {providerName(each)}
          </option>
        ))}
      </select>
    )}
  </Field>
);

const NumberField = ({
  value,
  change,
}: {
  readonly value: string;
  readonly change: (number: string) => void;
}) => (
  <Field label={phone.number} help={phone.numberHelp}>
    {(tied) => (
      <input
        {...tied}
        required
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    )}
  </Field>
);

function Create({
  providers,
  agents,
}: {
  readonly providers: Providers;
  readonly agents: readonly AgentRow[];
}) {
  const [provider = '', setProvider] = useState(Object.keys(providers)[0]);
  const [number, setNumber] = useKept<string>('phone.number', '');
  const [agent, setAgent] = useKept<string>('phone.agent', '');
  const [secrets, setSecrets] = useState<Secrets>({});
  const names = providers[provider] ?? NO_CREDENTIALS;
  const making = useAction(async (signal) => {
    const body = {
      provider,
      phone_number: number.trim(),
      ...(agent && { agent_id: agent }),
      credentials: typedOf(names, secrets),
    };
    const { phone_number_id: id } = await ask<PhoneNumber>(NUMBERS, { body, signal });
    setNumber('');
    go(['phone', id]);
  });
  return (
    <details class="panel section">
      <summary>
        <h2>{phone.add}</h2>
      </summary>
      <form class="stack" onSubmit={submitting(making)}>
        <div class="fields">
          <ProviderField providers={Object.keys(providers)} value={provider} choose={setProvider} />
          <NumberField value={number} change={setNumber} />
          <AgentField agents={agents} value={agent} choose={setAgent} />
          <SecretFields names={names} secrets={secrets} change={setSecrets} isNew />
        </div>
        <div>
          <button class="button primary" disabled={making.busy}>
            {phone.addNow}
          </button>
        </div>
        <Failure error={making.error} />
      </form>
    </details>
  );
}

const AnswerUrl = ({ number: { provider, answer_url: url } }: { readonly number: PhoneNumber }) => (
  <section class="panel stack tight">
    <h2>{phone.answerUrl}</h2>
    <div class="row">
      <code class="grow">{url}</code>
      <Copy text={url} />
    </div>
    <p class="soft">{phone.answerUrlHelp(providerName(provider))}</p>
    {!url.startsWith('https:') && <p class="notice warn">{phone.noHttps}</p>}
  </section>
);

function Replace({ number, names }: { readonly number: PhoneNumber; readonly names: CredentialNames }) {
  const [secrets, setSecrets] = useState<Secrets>({});
  const [done, setDone] = useState(false);
  const replacing = useAction(async (signal) => {
    setDone(false);
    const body = { credentials: typedOf(names, secrets) };
    await ask(pathOf(number.phone_number_id), { method: 'PATCH', body, signal });
    setSecrets({});
    setDone(true);
  });
  return (
    <details class="panel section">
      <summary>
        <h2>{phone.replace}</h2>
      </summary>
      <form class="stack" onSubmit={submitting(replacing)}>
        <div class="fields">
          <SecretFields names={names} secrets={secrets} change={setSecrets} isNew={false} />
        </div>
        <div class="row">
          <button class="button" disabled={replacing.busy}>
            {phone.replaceNow}
          </button>
          <span role="status">{done && phone.replaced}</span>
        </div>
        <Failure error={replacing.error} />
      </form>
    </details>
  );
}

/** What people call it, the agent that answers, if any, and what is wrong with it. */
function Answering({
  agents,
  saved,
}: {
  readonly agents: readonly AgentRow[];
  readonly saved: Saved<PhoneNumber>;
}) {
  const fixed = !useMay()('manage');
  const { label, agent_id: agent, enabled, status_detail: wrong } = saved.value;
  return (
    <div class="panel stack">
      <div class="fields">
        <LabelField value={label} disabled={fixed} change={(text) => saved.edit('label', text)} />
        <AgentField
          agents={agents}
          value={agent ?? ''}
          disabled={fixed}
          choose={(id) => saved.edit('agent_id', id || null)}
        />
      </div>
      <Check
        label={phone.enabled}
        checked={enabled}
        disabled={fixed}
        onChange={(on) => saved.edit('enabled', on)}
      />
      {wrong !== '' && <p class="notice warn">{wrong}</p>}
    </div>
  );
}

const BACK = { name: phone.back, to: linkTo(['phone']) };

function Editor({
  number,
  agents,
  providers,
}: {
  readonly number: PhoneNumber;
  readonly agents: readonly AgentRow[];
  readonly providers: Providers;
}) {
  const may = useMay();
  const path = pathOf(number.phone_number_id);
  const saved = useSaved<PhoneNumber>(path, number, (body) =>
    ask<PhoneNumber>(path, { method: 'PATCH', body }),
  );
  const fixed = !may('manage');
  return (
    <Page
      title={number.phone_number}
      back={BACK}
      state={
        <>
          <span class="tag">{providerName(number.provider)}</span>
          <StateTag number={saved.value} />
          <SaveState saved={saved} />
        </>
      }
    >
      <Answering agents={agents} saved={saved} />
      <Failure error={saved.error} retry={() => void saved.flush()} />
      <AnswerUrl number={number} />
      {!fixed && <Replace number={number} names={providers[number.provider] ?? NO_CREDENTIALS} />}
      {!fixed && <Remove path={path} sure={phone.removeSure} done={() => go(['phone'])} />}
    </Page>
  );
}

const StateTag = ({ number: { enabled, agent_id: agent } }: { readonly number: PhoneNumber }) => {
  const answers = enabled && agent !== null;
  return <span class={`tag ${answers ? 'good' : ''}`}>{answers ? phone.answers : phone.rejects}</span>;
};

function NumberView({ id }: { readonly id: string }) {
  const { data, error, reload } = useLoad(
    (signal) => Promise.all([ask<PhoneNumber>(pathOf(id), { signal }), allAgents(signal), loadProviders()]),
    [id],
  );
  if (data) return <Editor number={data[0]} agents={data[1]} providers={data[2]} />;
  return (
    <Page title={texts.views.phone} back={BACK}>
      {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
    </Page>
  );
}

function NumberList() {
  const may = useMay();
  const { data, error, reload } = useLoad((signal) => Promise.all([loadProviders(), allAgents(signal)]), []);
  const agents = data?.[1] ?? [];
  return (
    <Page title={texts.views.phone} intro={phone.intro}>
      <Failure error={error} retry={reload} />
      {may('manage') && data && <Create providers={data[0]} agents={agents} />}
      <Listing<PhoneNumber>
        path={`${NUMBERS}?page_size=50`}
        plural="phone_numbers"
        label={texts.views.phone}
        none={phone.none}
        link={({ phone_number_id: number }) => ['phone', number]}
        named={({ phone_number: number, label }) => (label === '' ? number : `${label} · ${number}`)}
        kind={(number) => (
          <span class="row">
            {providerName(number.provider)}
            <StateTag number={number} />
            <span class="soft">{agents.find(({ agent_id: id }) => id === number.agent_id)?.name}</span>
          </span>
        )}
      />
    </Page>
  );
}

export function Phone() {
  const id = useAddress().path[1];
  return id === undefined ? <NumberList /> : <NumberView key={id} id={id} />;
}
