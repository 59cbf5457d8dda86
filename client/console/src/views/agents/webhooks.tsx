/** The webhooks of an agent's draft, each with a test; and the deliveries to them. */
import { useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { useAction } from '../../hooks.js';
import { Failure } from '../../parts/basics.js';
import { WebhookTag, Deliveries, type WebhookAnswer } from '../../parts/deliveries.js';
import { linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { agentPath, type Config } from './agent-api.js';

const { webhooks } = texts.agents;

interface Hook {
  readonly url: string;
  readonly has_secret: boolean;
}

/** The draft's webhooks; empty if it has none. */
const hooksOf = (config: Config): readonly Hook[] =>
  (config['webhooks'] as { readonly post_call?: readonly Hook[] } | undefined)?.post_call ?? [];

function HookRow({ id, hook }: { readonly id: string; readonly hook: Hook }) {
  const may = useMay();
  const [answer, setAnswer] = useState<WebhookAnswer | undefined>();
  const trial = useAction(async (signal) => {
    setAnswer(undefined);
    const path = agentPath(id, '/webhooks/test');
    setAnswer(await ask<WebhookAnswer>(path, { body: { url: hook.url }, signal }));
  });
  return (
    <li class="stack tight">
      <div class="row">
        <span class="mono text">{hook.url}</span>
        <span class="soft">{hook.has_secret ? webhooks.signed : webhooks.unsigned}</span>
      </div>
      {may('manage') && (
        <div class="row">
          <button class="button" type="button" disabled={trial.busy} onClick={() => void trial.run()}>
            {webhooks.trial}
          </button>
          {trial.busy && (
            <button class="button" type="button" onClick={trial.cancel}>
              {texts.cancel}
            </button>
          )}
          <span role="status">{answer && <WebhookTag answer={answer} />}</span>
        </div>
      )}
      <Failure error={trial.error} />
    </li>
  );
}

export function Webhooks({ id, draft }: { readonly id: string; readonly draft: Config }) {
  const may = useMay();
  const hooks = hooksOf(draft);
  return (
    <div class="stack">
      <section class="panel stack tight">
        <h2>{texts.agents.tabs.webhooks}</h2>
        <p class="soft">
          {hooks.length === 0 ? webhooks.none : webhooks.help}{' '}
          <a href={linkTo(['agents', id, 'draft'])}>{texts.agents.tabs.draft}</a>
        </p>
        <ul class="stack">
          {hooks.map((hook) => (
            <HookRow key={hook.url} id={id} hook={hook} />
          ))}
        </ul>
      </section>
      {may('records') && <Deliveries of={{ agent_id: id }} />}
    </div>
  );
}
