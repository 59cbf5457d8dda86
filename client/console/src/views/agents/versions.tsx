/** What was published: each version beside the draft, and back into it. */
import { useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { momentText } from '../../format.js';
import { useAction, useLoad, usePages } from '../../hooks.js';
import { Empty, Failure, Loading, More } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import { agentPath, type Config, readVersion, type Version } from './agent-api.js';
import { Differences } from './difference.js';

const { agents } = texts;

interface Props {
  readonly id: string;
  readonly draft: Config;
  readonly restored: (config: Config) => void;
}

function Beside({ id, draft, restored, number }: Props & { readonly number: number }) {
  const may = useMay();
  const { data, error, reload } = useLoad((signal) => readVersion(id, number, signal), [id, number]);
  const restoring = useAction(async () => {
    if (data) restored(await ask<Config>(agentPath(id, '/config'), { method: 'PATCH', body: data }));
  });
  if (!data) return error === undefined ? <Loading /> : <Failure error={error} retry={reload} />;
  return (
    <div class="stack tight">
      <Differences before={data} after={draft} names={[agents.version(number), agents.draft]} />
      {may('manage') && (
        <div>
          <button class="button" type="button" disabled={restoring.busy} onClick={() => void restoring.run()}>
            {agents.restore(number)}
          </button>
        </div>
      )}
      <Failure error={restoring.error} />
    </div>
  );
}

const Row = ({ version, ...props }: Props & { readonly version: Version }) => {
  const [open, setOpen] = useState(false);
  const { version_number: number, version_title: title, published_at: at } = version;
  return (
    <li class="panel stack tight">
      <div class="row apart">
        <div>
          <h2>
            {agents.version(number)}
            {title && ` · ${title}`}
          </h2>
          <p class="soft">{momentText(at)}</p>
        </div>
        <button class="button" type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {agents.compare}
        </button>
      </div>
      {version.version_description && <p>{version.version_description}</p>}
      {open && <Beside {...props} number={number} />}
    </li>
  );
};

export function Versions(props: Props) {
  const { rows, error, busy, more, reload } = usePages<Version>(
    agentPath(props.id, '/versions?page_size=30'),
    'versions',
  );
  if (!rows) return busy ? <Loading /> : <Failure error={error} retry={reload} />;
  if (rows.length === 0) return <Empty title={agents.never} />;
  return (
    <>
      <ul class="stack tight">
        {rows.map((version) => (
          <Row key={version.version_number} {...props} version={version} />
        ))}
      </ul>
      <More more={more} busy={busy} />
    </>
  );
}
