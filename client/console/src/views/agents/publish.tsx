/** Publishing the draft: the changes, a title, and the gateway's warnings. */
import { useState } from 'preact/hooks';
import { ask } from '../../api.js';
import { submitting, useAction, useKept, useLoad } from '../../hooks.js';
import { Failure, Field } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import { agentPath, type Config, type Published, readVersion, type Version } from './agent-api.js';
import { Differences } from './difference.js';
import type { Saved } from './saving.js';
import type { AgentState } from './state.js';

const { agents } = texts;

const Changes = ({
  id,
  live,
  draft,
}: {
  readonly id: string;
  readonly live: Version;
  readonly draft: Config;
}) => {
  const { data, error, reload } = useLoad(
    (signal) => readVersion(id, live.version_number, signal),
    [id, live.version_number],
  );
  if (!data) return <Failure error={error} retry={reload} />;
  return (
    <details>
      <summary>{agents.changes}</summary>
      <Differences before={data} after={draft} names={[agents.version(live.version_number), agents.draft]} />
    </details>
  );
};

const Warnings = ({ published }: { readonly published: Published | undefined }) =>
  published && (
    <div class={`notice stack tight ${published.warnings.length > 0 ? 'warn' : ''}`} role="status">
      <p>{agents.isPublished(published.version_number)}</p>
      {published.warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  );

function usePublication(id: string, saved: Saved<Config>, done: (version: Version) => void) {
  const [title, setTitle] = useKept<string>(`publish.${id}`, '');
  const [published, setPublished] = useState<Published | undefined>();
  const action = useAction(async () => {
    if (!(await saved.flush())) return;
    const body = title.trim() === '' ? {} : { version_title: title.trim() };
    const version = await ask<Published>(agentPath(id, '/publish'), { body });
    setPublished(version);
    setTitle('');
    done(version);
  });
  return { title, setTitle, published, action };
}

/** Calls `done` with the new version. */
export function Publish({
  saved,
  state: { agent, live, isChanged: unpublished },
  done,
}: {
  readonly saved: Saved<Config>;
  readonly state: AgentState;
  readonly done: (version: Version) => void;
}) {
  const id = agent.agent_id;
  const { title, setTitle, published, action } = usePublication(id, saved, done);
  return (
    <form class="panel stack tight" onSubmit={submitting(action)}>
      <p>
        {live
          ? unpublished
            ? agents.unpublished(live.version_number)
            : agents.isLive(live.version_number)
          : agents.never}
      </p>
      {live && unpublished && <Changes id={id} live={live} draft={saved.value} />}
      {unpublished && (
        <div class="row end">
          <Field label={agents.title}>
            {(tied) => (
              <input
                {...tied}
                maxLength={120}
                value={title}
                onInput={({ currentTarget }) => setTitle(currentTarget.value)}
              />
            )}
          </Field>
          <button class="button primary" disabled={action.busy || saved.state === 'failed'}>
            {agents.publish}
          </button>
        </div>
      )}
      <Failure error={action.error} />
      <Warnings published={published} />
    </form>
  );
}
