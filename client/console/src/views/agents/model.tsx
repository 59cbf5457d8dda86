/** The language model of an agent's draft: one of the gateway's, or one of its own, whose key is typed and never shown; and a trial of it. */
import { useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { useAction } from '../../hooks.js';
import { Failure, Field } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import { agentPath, type Config } from './agent-api.js';
import type { Saved } from './saving.js';

const { model: words } = texts.agents;

/** As the gateway sends it (docs/contract/platform.md 6.3 `llm`). */
interface Model {
  readonly tier: string;
  readonly custom: {
    readonly base_url: string;
    readonly model: string;
    readonly has_secret: boolean;
  } | null;
}

interface Trial {
  readonly ok: boolean;
  readonly first_token_ms: number | null;
  readonly model: string;
  readonly calls_tools: boolean;
  readonly error: string | null;
}

const USUAL: Model = { tier: 'medium', custom: null };
const OWN = 'own';
const CHOICES = ['instant', 'medium', 'high', OWN] as const;

export const modelOf = (config: Config): Model => (config['llm'] as Model | undefined) ?? USUAL;

/** What a trial came to, line by line. */
const trialLines = ({
  ok,
  first_token_ms: ms,
  calls_tools: calls,
  error,
  model,
}: Trial): readonly string[] => [
  ...(error === null ? [] : [words.failed(error)]),
  ...(ms === null ? [] : [words.first(model, ms)]),
  ...(ok ? [calls ? words.tools : words.noTools] : []),
];

const Outcome = ({ trial }: { readonly trial: Trial }) => (
  <ul class={trial.ok && trial.calls_tools ? '' : 'problem'}>
    {trialLines(trial).map((line) => (
      <li key={line}>{line}</li>
    ))}
  </ul>
);

function TryIt({ id, body }: { readonly id: string; readonly body: object }) {
  const [trial, setTrial] = useState<Trial | undefined>();
  const action = useAction(async (signal) => {
    setTrial(undefined);
    setTrial(await ask<Trial>(agentPath(id, '/llm/test'), { body, signal }));
  });
  return (
    <div class="stack tight">
      <div class="row">
        <button class="button" type="button" disabled={action.busy} onClick={() => void action.run()}>
          {words.trial}
        </button>
        {action.busy && (
          <button class="button" type="button" onClick={action.cancel}>
            {texts.cancel}
          </button>
        )}
        <span class="soft">{words.trialHelp}</span>
      </div>
      <div role="status">{trial && <Outcome trial={trial} />}</div>
      <Failure error={action.error} />
    </div>
  );
}

interface Typed {
  readonly base_url: string;
  readonly model: string;
  /** Empty: the stored one stays. */
  readonly key: string;
}

const bodyOf = ({ base_url, model, key }: Typed) => ({
  base_url,
  model,
  ...(key !== '' && { api_key: key }),
});

const OwnFields = ({
  typed,
  type,
  isKept,
}: {
  readonly typed: Typed;
  readonly type: (part: Partial<Typed>) => void;
  /** Whether a key is stored. */
  readonly isKept: boolean;
}) => (
  <div class="fields">
    <Field label={words.address} help={words.addressHelp}>
      {(tied) => (
        <input
          {...tied}
          required
          maxLength={2000}
          value={typed.base_url}
          onInput={({ currentTarget }) => type({ base_url: currentTarget.value })}
        />
      )}
    </Field>
    <Field label={words.name} help={words.nameHelp}>
      {(tied) => (
        <input
          {...tied}
          required
          maxLength={256}
          value={typed.model}
          onInput={({ currentTarget }) => type({ model: currentTarget.value })}
        />
      )}
    </Field>
    <Field label={words.key} help={isKept ? words.keyKept : words.keyHelp}>
      {(tied) => (
        <input
          {...tied}
          type="password"
          autoComplete="off"
          maxLength={4096}
          value={typed.key}
          onInput={({ currentTarget }) => type({ key: currentTarget.value })}
        />
      )}
    </Field>
  </div>
);

/** The key is sent by itself, as what is typed elsewhere is kept in the tab until it is saved. */
function OwnModel({ id, saved }: { readonly id: string; readonly saved: Saved<Config> }) {
  const { custom } = modelOf(saved.value);
  const [typed, setTyped] = useState<Typed>({
    base_url: custom?.base_url ?? '',
    model: custom?.model ?? '',
    key: '',
  });
  const type = (part: Partial<Typed>) => setTyped((before) => ({ ...before, ...part }));
  const use = useAction(async (signal) => {
    if (!(await saved.flush())) return;
    const body = { llm: { custom: bodyOf(typed) } };
    saved.take(await ask<Config>(agentPath(id, '/config'), { method: 'PATCH', body, signal }));
    type({ key: '' });
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void use.run();
      }}
    >
      <OwnFields typed={typed} type={type} isKept={custom !== null && custom.has_secret} />
      <div class="row">
        <button class="button" disabled={use.busy}>
          {words.use}
        </button>
        <span class="soft" role="status">
          {custom ? words.inUse(custom.model, custom.base_url) : words.notYet}
        </span>
      </div>
      <Failure error={use.error} />
      <TryIt id={id} body={{ custom: bodyOf(typed) }} />
    </form>
  );
}

/** Asks before a key goes that nobody could read back. */
const Leave = ({ model, leave }: { readonly model: string; readonly leave: () => void }) => (
  <div class="notice warn stack tight" role="alert">
    <p>{words.leaving(model)}</p>
    <div>
      <button class="button danger" type="button" onClick={leave}>
        {words.leave}
      </button>
    </div>
  </div>
);

export function ModelSection({ id, saved }: { readonly id: string; readonly saved: Saved<Config> }) {
  const may = useMay();
  const { tier, custom } = modelOf(saved.value);
  // What is chosen and not in the draft yet.
  const [chosen, setChosen] = useState<string | undefined>();
  const shown = chosen ?? (custom ? OWN : tier);
  const isOwn = shown === OWN;
  const keep = (choice: string) => {
    setChosen(undefined);
    saved.edit('llm', { tier: choice, custom: null });
  };
  const choose = (choice: string) => (choice === OWN || custom ? setChosen(choice) : keep(choice));
  const mayChange = may('manage');
  return (
    <details class="panel section">
      <summary>
        <h2>{words.title}</h2>
      </summary>
      <div class="stack">
        <Field label={words.which} help={isOwn ? words.ownHelp : words.tierHelp}>
          {(tied) => (
            <select
              {...tied}
              disabled={!mayChange}
              value={shown}
              onChange={({ currentTarget }) => choose(currentTarget.value)}
            >
              {CHOICES.map((each) => (
                <option key={each} value={each}>
                  {words.choices[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {mayChange && isOwn && <OwnModel id={id} saved={saved} />}
        {mayChange && !isOwn && custom && <Leave model={custom.model} leave={() => keep(shown)} />}
        {mayChange && !isOwn && <TryIt key={shown} id={id} body={{ tier: shown }} />}
        {!mayChange && custom && <p class="soft">{words.inUse(custom.model, custom.base_url)}</p>}
      </div>
    </details>
  );
}
